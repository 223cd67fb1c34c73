"""One block of Gemma 2 out of a dict of settings: local if it is told a span, soft-capped unless it is told None."""

import math

import torch
from torch import nn

SETTINGS = {
    "width": 64,
    "heads": 8,
    "kv_heads": 4,
    "hidden": 256,
    "window": None,  # how many tokens are seen, the token itself among them
    "attn_logit_cap": 50.0,
    "query_pre_attn_scalar": None,  # None: the width of a head
    "eps": 1e-6,
}


def settled(**given):
    strange = given.keys() - SETTINGS.keys()
    if strange:
        raise TypeError(f"no such settings: {', '.join(sorted(strange))}")
    return {**SETTINGS, **given}


class RootMeanSquare(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.zeros(width)), eps

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True) + self.eps).sqrt() * (1 + self.gain)


def turned(x):
    half = x.shape[-1] // 2
    steps = 10000.0 ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    angle = torch.arange(x.shape[-2], dtype=x.dtype, device=x.device)[:, None] * steps
    one, two = x[..., :half], x[..., half:]
    return torch.cat((one * angle.cos() - two * angle.sin(), two * angle.cos() + one * angle.sin()), -1)


class GatedMlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down, self.act = nn.Linear(hidden, width, bias=False), nn.GELU(approximate="tanh")

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class LocalBlock(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.spec = spec = settled(**spec)
        self.size = size = spec["width"] // spec["heads"]
        self.scale = (spec["query_pre_attn_scalar"] or size) ** -0.5
        self.wq = nn.Linear(spec["width"], spec["heads"] * size, bias=False)
        self.wkv = nn.Linear(spec["width"], 2 * spec["kv_heads"] * size, bias=False)
        self.wo = nn.Linear(spec["heads"] * size, spec["width"], bias=False)
        self.mlp = GatedMlp(spec["width"], spec["hidden"])
        self.norms = nn.ModuleList(RootMeanSquare(spec["width"], spec["eps"]) for _ in range(4))

    def visible(self, length, device):
        back = torch.arange(length, device=device)[:, None] - torch.arange(length, device=device)
        seen = back >= 0
        return seen if self.spec["window"] is None else seen & (back < self.spec["window"])

    def attend(self, x):
        batch, length, _ = x.shape
        k, v = self.wkv(x).chunk(2, dim=-1)
        q, k, v = (y.view(batch, length, -1, self.size).transpose(1, 2) for y in (self.wq(x), k, v))
        q, k = turned(q), turned(k)
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], dim=1) for y in (k, v))
        scores = (self.scale * q @ k.mT).masked_fill(~self.visible(length, x.device), -math.inf)
        if (cap := self.spec["attn_logit_cap"]) is not None:
            scores = cap * torch.tanh(scores / cap)
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.norms[1](self.attend(self.norms[0](x)))
        return x + self.norms[3](self.mlp(self.norms[2](x)))
