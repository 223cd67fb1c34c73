import torch
from torch import nn

class _Attn(nn.Module):
    def __init__(self, dim, heads, drop):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.mT / (d // self.heads) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))

class _Layer(nn.Module):
    def __init__(self, dim, heads, ff, drop):
        super().__init__()
        self.attn, self.n1, self.n2 = _Attn(dim, heads, drop), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, ff), nn.GELU(), nn.Linear(ff, dim))
        self.drop = nn.Dropout(drop)

    def forward(self, x, mask=None):
        x = x + self.drop(self.attn(self.n1(x), mask))
        return x + self.drop(self.ff(self.n2(x)))

class _Encoder(nn.Module):
    def __init__(self, layers, dim):
        super().__init__()
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)

def build_encoder(cfg: dict) -> nn.Module:
    dim, drop = cfg["dim"], cfg.get("dropout", 0.1)
    return _Encoder([_Layer(dim, cfg["heads"], cfg.get("ff", 4 * dim), drop) for _ in range(cfg["depth"])], dim)
