import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class SourceAttention(nn.Module):
    """Decoder steps over one source. `new_source()` goes before the steps of each, `done()` after the last."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(embed_dim, embed_dim)
        self.k = nn.Linear(embed_dim, embed_dim)
        self.v = nn.Linear(embed_dim, embed_dim)
        self.o = nn.Linear(embed_dim, embed_dim)
        self.store = None

    def new_source(self):
        self.store = {"v": (self.store or {}).get("v")}

    def done(self):
        self.store = None

    def _kept(self, name, source):
        made = self.store.get(name) if self.store is not None else None
        if made is None:
            b, s, _ = source.shape
            made = getattr(self, name)(source).reshape(b, s, self.num_heads, -1).transpose(1, 2)
        if self.store is not None:
            self.store[name] = made
        return made

    def forward(self, x, source, source_padding=None):
        b, t, e = x.shape
        q = self.q(x).reshape(b, t, self.num_heads, -1).transpose(1, 2)
        seen = None if source_padding is None else torch.logical_not(source_padding)[:, None, None]
        y = scaled_dot_product_attention(q, self._kept("k", source), self._kept("v", source), attn_mask=seen)
        return self.o(y.transpose(1, 2).reshape(b, t, e))
