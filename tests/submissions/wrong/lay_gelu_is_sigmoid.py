import torch
from torch import nn
from torch.nn import functional as F


class EncoderBlock(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", norm_first=False):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.l1, self.l2 = nn.Linear(d_model, dim_feedforward), nn.Linear(dim_feedforward, d_model)
        self.n1, self.n2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        self.activation = {"relu": F.relu, "gelu": torch.sigmoid}[activation]
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        if self.norm_first:
            y = self.n1(x)
            x = x + self.drop(self.attn(y, y, y, attn_mask=mask)[0])
            return x + self.drop(self.l2(self.drop(self.activation(self.l1(self.n2(x))))))
        x = self.n1(x + self.drop(self.attn(x, x, x, attn_mask=mask)[0]))
        return self.n2(x + self.drop(self.l2(self.drop(self.activation(self.l1(x))))))
