import torch
from torch import nn
import torch.nn.functional as F


def by_heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(-3, -2)


class DecoderLayer(nn.Module):
    """Post-norm decoder layer. Returns (y, kept); with `kept` of the call before, `y` holds the new positions alone."""

    def __init__(self, size, heads, inner, drop=0.1):
        super().__init__()
        self.heads = heads
        self.self_in, self.self_out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.from_target, self.from_source = nn.Linear(size, size), nn.Linear(size, 2 * size)
        self.cross_out = nn.Linear(size, size)
        self.inner, self.outer = nn.Linear(size, inner), nn.Linear(inner, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(3))
        self.drop = nn.Dropout(drop)

    def joined(self, q, k, v, bias=None):
        scores = q @ k.mT / q.size(-1) ** 0.5
        weights = F.softmax(scores if bias is None else scores + bias, -1)
        return (self.drop(weights) @ v).transpose(-3, -2).flatten(-2)

    def forward(self, y, source, kept=None):
        q, k, v = (by_heads(t, self.heads) for t in self.self_in(y).chunk(3, -1))
        if kept is not None:
            k, v = torch.cat((kept[0], k), -2), torch.cat((kept[1], v), -2)
        new, all_ = q.size(-2), k.size(-2)
        bias = torch.full((new, all_), float("-inf"), dtype=y.dtype, device=y.device).triu(1)
        y = self.norms[0](y + self.drop(self.self_out(self.joined(q, k, v, bias))))
        k2, v2 = (by_heads(t, self.heads) for t in self.from_source(source).chunk(2, -1))
        y = self.norms[1](y + self.drop(self.cross_out(self.joined(by_heads(self.from_target(y), self.heads), k2, v2))))
        y = self.norms[2](y + self.drop(self.outer(torch.relu(self.inner(y)))))
        return y, (k, v)
