from torch import nn


class NormedAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.norm_q, self.norm_k = nn.LayerNorm(dim // heads), nn.LayerNorm(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        q, k = self.norm_q(q), self.norm_k(k)
        w = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return self.out((w @ v).transpose(1, 2).flatten(2))
