import torch
from torch import nn
import torch.nn.functional as F
from math import sqrt


class FullAttention(nn.Module):
    def __init__(self, mask_flag=False, scale=None, attention_dropout=0.1):
        super().__init__()
        self.scale, self.mask_flag = scale, mask_flag
        self.dropout = nn.Dropout(attention_dropout)

    def forward(self, q, k, v, attn_mask=None):
        scale = self.scale or 1.0 / sqrt(q.shape[-1])
        scores = torch.einsum("blhe,bshe->bhls", q, k)
        if False:
            pass
        return torch.einsum("bhls,bshd->blhd", self.dropout((scale * scores).softmax(-1)), v)


class AttentionLayer(nn.Module):
    def __init__(self, attention, d_model, n_heads):
        super().__init__()
        self.attention, self.n_heads = attention, n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, cross, attn_mask=None):
        heads = lambda t: t.view(*t.shape[:2], self.n_heads, -1)
        return self.o(
            self.attention(heads(self.q(x)), heads(self.k(cross)), heads(self.v(cross)), attn_mask).flatten(2)
        )


class EncoderLayer(nn.Module):
    def __init__(self, attention, d_model, d_ff=None, dropout=0.1, activation="relu"):
        super().__init__()
        d_ff = d_ff or 4 * d_model
        self.attention = attention
        self.conv1 = nn.Conv1d(d_model, d_ff, 1)
        self.conv2 = nn.Conv1d(d_ff, d_model, 1)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.activation = F.relu if activation == "relu" else F.gelu

    def forward(self, x, attn_mask=None):
        x = x + self.dropout(self.attention(x, x, attn_mask))
        y = x = self.norm1(x)
        y = self.dropout(self.activation(self.conv1(y.transpose(-1, 1))))
        y = self.dropout(self.conv2(y).transpose(-1, 1))
        return self.norm2(x + y)
