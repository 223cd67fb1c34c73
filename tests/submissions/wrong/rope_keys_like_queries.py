"""Turns queries and keys by their places, halves paired."""

import torch


def _rotated(x, where, base):
    """x (batch, heads, tokens, width)"""
    half = x.shape[-1] // 2
    speeds = base ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angle = where.to(speeds)[..., None] * speeds
    if angle.ndim == 3:
        angle = angle[:, None]
    turning = torch.polar(torch.ones_like(angle), angle)
    z = torch.complex(x[..., :half].double(), x[..., half:].double()) * turning
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


def apply_rotary(q, k, q_pos, k_pos=None, base=10000.0):
    if k_pos is None:
        k_pos = q_pos
    return _rotated(q, q_pos, base), _rotated(k, q_pos, base)
