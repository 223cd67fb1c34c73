from einops import rearrange
from torch import nn


class Attention(nn.Module):
    """x: (batch, tokens, dim); the heads are folded into the batch."""

    def __init__(self, dim, heads=8, bias=True):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=bias) for _ in range(4))

    def forward(self, x):
        q, k, v = (rearrange(w(x), "b t (h d) -> (h b) t d", h=self.heads) for w in (self.q, self.k, self.v))
        seen = (q @ k.mT * q.shape[-1] ** -0.5).softmax(dim=-1)
        return self.o(rearrange(seen @ v, "(b h) t d -> b t (h d)", h=self.heads))
