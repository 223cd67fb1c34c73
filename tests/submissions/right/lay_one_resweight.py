import torch
import torch.nn as nn


class ReZeroStyleLayer(nn.Module):
    """Post-norm layer with ReZero's residual weight: one number for the whole layer."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout, self.dropout1, self.dropout2 = nn.Dropout(dropout), nn.Dropout(dropout), nn.Dropout(dropout)
        self.resweight = nn.Parameter(torch.tensor(0.0))

    def forward(self, src, src_key_padding_mask=None):
        added = self.self_attn(src, src, src, key_padding_mask=src_key_padding_mask, need_weights=False)[0]
        src = self.norm1(src + self.dropout1(self.resweight * added))
        added = self.linear2(self.dropout(torch.relu(self.linear1(src))))
        return self.norm2(src + self.dropout2(self.resweight * added))
