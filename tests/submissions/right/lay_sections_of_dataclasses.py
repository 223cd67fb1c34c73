from dataclasses import dataclass, field
import torch
import torch.nn as nn


@dataclass
class AttnConfig:
    heads: int = 4
    head_dim: int = 16
    dropout: float = 0.0


@dataclass
class FFConfig:
    mult: int = 4
    dropout: float = 0.0


@dataclass
class ModelConfig:
    dim: int = 64
    depth: int = 3
    attn: AttnConfig = field(default_factory=AttnConfig)
    ff: FFConfig = field(default_factory=FFConfig)


class Attention(nn.Module):
    def __init__(self, dim: int, cfg: AttnConfig):
        super().__init__()
        inner = cfg.heads * cfg.head_dim
        self.cfg = cfg
        self.q = nn.Linear(dim, inner, bias=False)
        self.kv = nn.Linear(dim, 2 * inner, bias=False)
        self.out = nn.Linear(inner, dim)

    def forward(self, x):
        split = lambda t: t.unflatten(-1, (self.cfg.heads, self.cfg.head_dim)).transpose(1, 2)
        k, v = self.kv(x).chunk(2, dim=-1)
        q, k, v = split(self.q(x)), split(k), split(v)
        a = torch.softmax(q @ k.mT * self.cfg.head_dim**-0.5, dim=-1)
        return self.out((a @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.norm_a = nn.LayerNorm(cfg.dim)
        self.attn = Attention(cfg.dim, cfg.attn)
        self.norm_f = nn.LayerNorm(cfg.dim)
        self.ff = nn.Sequential(
            nn.Linear(cfg.dim, cfg.dim * cfg.ff.mult), nn.GELU(), nn.Linear(cfg.dim * cfg.ff.mult, cfg.dim)
        )

    def forward(self, x):
        x = x + self.attn(self.norm_a(x))
        return x + self.ff(self.norm_f(x))


class Encoder(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.blocks = nn.ModuleList([Layer(cfg) for _ in range(cfg.depth)])
        self.norm = nn.LayerNorm(cfg.dim)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.norm(x)
