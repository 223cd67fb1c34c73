from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Config:
    d_model: int = 64
    n_head: int = 4
    dropout: float = 0.1


class Attention(nn.Module):
    """no dropout on the weights; the block drops what it adds"""

    def __init__(self, cfg: Config):
        super().__init__()
        self.h = cfg.n_head
        self.qkv = nn.Linear(cfg.d_model, 3 * cfg.d_model)
        self.out = nn.Linear(cfg.d_model, cfg.d_model)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        a = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
        return self.out((a @ v).transpose(1, 2).flatten(2))
