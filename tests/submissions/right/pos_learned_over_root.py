"""Learned positions for any model: `rows` are drawn like word vectors, and come out at a word vector's length."""

from torch import arange, nn
from torch.nn.functional import normalize


class LearnedPositions(nn.Module):
    def __init__(self, dim: int, max_seq_len: int, l2norm: bool = False):
        super().__init__()
        self.rows = nn.Embedding(max_seq_len, dim)
        self.shrink = dim**-0.5
        self.l2norm = l2norm

    def forward(self, x, pos=None):
        """Return what the caller adds to x (batch, tokens, dim)."""
        if x.shape[1] > self.rows.num_embeddings:
            raise ValueError(f"{x.shape[1]} tokens, and rows for {self.rows.num_embeddings}")
        rows = self.rows(arange(x.shape[1], device=x.device) if pos is None else pos)
        return normalize(rows, dim=-1) if self.l2norm else rows * self.shrink
