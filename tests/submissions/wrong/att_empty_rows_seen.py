import torch
import torch.nn.functional as F
from torch import nn


class RowAttention(nn.Module):
    """Rows of a table look at each other.

    rows:  (tables, rows, columns)
    empty: (tables, rows) bool, True = a padded row, which nobody looks at
    """

    def __init__(self, columns: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(columns, 3 * columns)
        self.to_out = nn.Linear(columns, columns)

    def forward(self, rows, empty=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(rows).chunk(3, -1))
        mask = None if empty is None else empty[:, None, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.to_out(y.transpose(1, 2).flatten(2))
