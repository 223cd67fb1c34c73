"""Rotary embedding in two functions: the caller says where the tokens stand."""
import torch


def angles_for(positions, dim, theta=10000.0):
    """positions: (tokens,) or (batch, tokens), any integers. Two tables, (..., tokens, dim)."""
    rates = 1.0 / theta ** (torch.arange(0, dim, 2, device=positions.device).double() / dim)
    turn = positions.double().unsqueeze(-1) * rates
    turn = torch.cat((turn, turn), dim=-1)
    return turn.cos(), turn.sin()


def swap_halves(x):
    first, second = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-second, first), dim=-1)


def rotate_qk(q, k, cos, sin):
    """q, k: (batch, heads, tokens, dim)."""
    if cos.ndim == 3:
        cos, sin = cos[:, None], sin[:, None]
    cos, sin = cos.to(q.dtype), sin.to(q.dtype)
    return q * cos + swap_halves(q) * sin, k * cos + swap_halves(k) * sin
