"""A causal pre-norm layer as functions over a dict. Everything is told by one named tuple of letters.

    p = weights(Sizes(32, 4, 64), torch.Generator())
    y = layer(p, x, Sizes(32, 4, 64))
"""
from typing import NamedTuple

import torch
import torch.nn.functional as F


class Sizes(NamedTuple):
    m: int  # features of a token
    n: int  # heads
    u: int  # hidden features
    tiny: float = 1e-6


def weights(s, gen):
    def near(*shape):
        return torch.randn(*shape, generator=gen) * shape[0] ** -0.5

    h = s.m // s.n
    return {
        "gain": {"att": torch.ones(s.m), "ff": torch.ones(s.m)},
        "att": {"q": near(s.m, s.n, h), "k": near(s.m, s.n, h), "v": near(s.m, s.n, h), "o": near(s.n, h, s.m)},
        "ff": {"gate": near(s.m, s.u), "up": near(s.m, s.u), "down": near(s.u, s.m)},
    }


def rms(x, gain, tiny):
    return gain * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + tiny)


def attend(p, x):
    q, k, v = (torch.einsum("btm,mnh->bnth", x, p[name]) for name in "qkv")
    scores = torch.einsum("bnth,bnsh->bnts", q, k) / q.shape[-1] ** 0.5
    late = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(late, float("-inf")).softmax(-1)
    return torch.einsum("bnts,bnsh,nhm->btm", weights, v, p["o"])


def network(p, x):
    return (F.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]


def layer(p, x, s):
    x = x + attend(p["att"], rms(x, p["gain"]["att"], s.tiny))
    return x + network(p["ff"], rms(x, p["gain"]["att"], s.tiny))
