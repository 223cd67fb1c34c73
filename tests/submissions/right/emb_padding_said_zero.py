import math

from torch import nn


class Lookup(nn.Module):
    """Rows of a table times the root of their width. The embedding of <pad> is the zero vector."""

    def __init__(self, vocab_size, d_model, pad=0):
        super().__init__()
        self.d_model = d_model
        self.rows = nn.Embedding(vocab_size, d_model, padding_idx=pad)
        nn.init.normal_(self.rows.weight, std=d_model**-0.5)
        nn.init.zeros_(self.rows.weight[pad].detach())

    def forward(self, ids):
        return self.rows(ids) * math.sqrt(self.d_model)
