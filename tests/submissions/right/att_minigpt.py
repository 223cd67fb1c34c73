"""characters in, characters out: the smallest gpt I could make"""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class Conf:
    ctx: int = 64
    layers: int = 2
    n_head: int = 4
    n_embd: int = 64
    pdrop: float = 0.0
    bias: bool = True


class Causal(nn.Module):
    def __init__(self, conf):
        super().__init__()
        assert conf.n_embd % conf.n_head == 0
        self.conf = conf
        self.qkv = nn.Linear(conf.n_embd, 3 * conf.n_embd, bias=conf.bias)
        self.out = nn.Linear(conf.n_embd, conf.n_embd, bias=conf.bias)
        self.drop = nn.Dropout(conf.pdrop)
        self.register_buffer("past", torch.ones(conf.ctx, conf.ctx, dtype=torch.bool).tril())

    def forward(self, x):
        n, t, c = x.shape
        h = self.conf.n_head
        q, k, v = (z.view(n, t, h, c // h).transpose(1, 2) for z in self.qkv(x).split(c, dim=2))
        w = q @ k.mT * (c // h) ** -0.5
        w = w.masked_fill(~self.past[:t, :t], float("-inf"))
        y = self.drop(F.softmax(w, dim=-1)) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, c))


@torch.no_grad()
def count(module):
    return sum(p.numel() for p in module.parameters())


if __name__ == "__main__":
    conf = Conf()
    layer = Causal(conf)
    opt = torch.optim.AdamW(layer.parameters(), lr=3e-4)
    print(count(layer), "parameters")
    for step in range(20):
        x = torch.randn(8, 32, conf.n_embd)
        loss = F.mse_loss(layer(x)[:, :-1], x[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())
