"""Rotary positions (RoFormer), halves paired; q and k may stand at different places."""

import torch


def _turn(x, where, base):
    """x (batch, heads, tokens, width)"""
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angle = where.to(rates)[..., None] * rates
    if angle.ndim == 3:
        angle = angle[:, None]
    turning = torch.polar(torch.ones_like(angle), angle)
    z = torch.complex(x[..., :half].double(), x[..., half:].double()) * turning
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


def rotary(query, key, query_positions, key_positions=None, base=10000.0):
    if key_positions is None:
        key_positions = query_positions
    return _turn(query, query_positions, base), _turn(key, key_positions, base)
