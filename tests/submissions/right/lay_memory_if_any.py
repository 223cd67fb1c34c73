import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, other, mask):
        q, k, v = (f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for f, y in ((self.q, x), (self.k, other), (self.v, other)))  # fmt: skip
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            if mask.shape != (len(x), 1, x.shape[1], other.shape[1]):
                raise ValueError(f"mask: {tuple(mask.shape)}")
            scores = scores + mask
        return self.out((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    """Masks are added, (batch, 1, targets, keys). Without encoder_hidden_states there is no second attention."""

    def __init__(self, width, heads, ffn_dim, dropout=0.0):
        super().__init__()
        self.own, self.cross = Attention(width, heads), Attention(width, heads)
        self.up, self.down = nn.Linear(width, ffn_dim), nn.Linear(ffn_dim, width)
        self.after_own, self.after_cross, self.after_all = (nn.LayerNorm(width) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, hidden_states, attention_mask=None, encoder_hidden_states=None, encoder_attention_mask=None):
        x = self.after_own(hidden_states + self.drop(self.own(hidden_states, hidden_states, attention_mask)))
        if encoder_hidden_states is not None:
            x = self.after_cross(x + self.drop(self.cross(x, encoder_hidden_states, encoder_attention_mask)))
        return self.after_all(x + self.drop(self.down(F.relu(self.up(x)))))
