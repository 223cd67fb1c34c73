"""Self-attention for sequence-first tensors."""
from torch import nn


class SelfAttention(nn.Module):
    """x [T, B, D] (time, batch, channel) -> [T, B, D]; attention over time."""

    def __init__(self, d_model, heads, dropout=0.0):
        super().__init__()
        self.heads = heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def apart(self, t):
        return t.unflatten(-1, (self.heads, -1)).permute(1, 2, 0, 3)

    def forward(self, x):
        q, k, v = self.apart(self.w_q(x)), self.apart(self.w_k(x)), self.apart(self.w_v(x))
        weights = self.dropout((q @ k.mT * q.shape[-1] ** -0.5).softmax(dim=-1))
        return self.w_o((weights @ v).permute(2, 0, 1, 3).flatten(2))
