import torch
from torch import nn


class LazyAttention(nn.Module):
    """call(query, value): the widths are those of the first inputs, which make the kernels."""

    def __init__(self, heads, head_dim):
        super().__init__()
        self.heads, self.head_dim = heads, head_dim
        self.made = False

    def make(self, query, value):
        for name, x in (("query", query), ("key", value), ("value", value)):
            kernel = nn.Parameter(torch.randn(x.shape[-1], self.heads, self.head_dim) / x.shape[-1] ** 0.5)
            setattr(self, f"{name}_kernel", kernel)
        width = self.heads * self.head_dim
        self.out_kernel = nn.Parameter(torch.randn(self.heads, self.head_dim, query.shape[-1]) / width**0.5)
        self.made = True

    def forward(self, query, value, mask=None):
        """mask (B, L, S), True where a query may attend."""
        if not self.made:
            self.make(query, value)
        q = torch.einsum("ble,ehd->bhld", query, self.query_kernel)
        k = torch.einsum("bse,ehd->bhsd", value, self.key_kernel)
        v = torch.einsum("bse,ehd->bhsd", value, self.value_kernel)
        scores = q @ k.mT * self.head_dim**-0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -1e9)
        return torch.einsum("bhld,hde->ble", scores.softmax(-1) @ v, self.out_kernel)
