"""Attention as a function over a dict of matrices; who calls it makes the angles from positions, for a width."""

import torch


def make_weights(d, n, h, seed=0):
    g = torch.Generator().manual_seed(seed)

    def r(*shape):
        return torch.randn(*shape, generator=g)

    return {"q": r(d, n, h), "k": r(d, n, h), "v": r(d, n, h), "o": r(n, h, d)}


def angle_tables(positions, h, base=10000.0):
    """positions (batch, time): cosines and sines (batch, time, h / 2)."""
    rates = base ** (-torch.arange(0, h, 2, device=positions.device, dtype=torch.float64) / h)
    angles = positions[..., None] * rates
    return angles.cos(), angles.sin()


def turn(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    cos, sin = cos[:, :, None], sin[:, :, None]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def attention(weights, x, cos, sin):
    """Causal self-attention. x (batch, time, d); cos, sin: of angle_tables, for the positions of x."""
    q, k, v = (torch.einsum("btd,dnh->btnh", x, weights[name]) for name in "qkv")
    q = turn(q, cos, sin)
    scores = torch.einsum("btnh,bsnh->bnts", q, k) / q.shape[-1] ** 0.5
    seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
    out = torch.einsum("bnts,bsnh->btnh", scores.masked_fill(~seen, float("-inf")).softmax(-1), v)
    return torch.einsum("btnh,nhd->btd", out, weights["o"])
