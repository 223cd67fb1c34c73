"""Rotary positions as a pair of functions: what is made once, and what is done each time."""

import torch


def rope_init(rot_dim, base=10_000.0):
    steps = torch.arange(0, rot_dim, 2, dtype=torch.float32) / rot_dim
    return {"inv_freq": base ** -steps}


def rope_apply(state, x, positions=None):
    """x (batch, time, heads, head_dim); the first rot_dim channels turn, i with i + rot_dim / 2."""
    inv_freq = state["inv_freq"]
    half = len(inv_freq)
    if positions is None:
        positions = torch.arange(x.shape[1])
    turn = positions[..., None].float() * inv_freq
    if turn.ndim == 2:
        turn = turn[None]
    c, s = turn.cos()[:, :, None].to(x.dtype), turn.sin()[:, :, None].to(x.dtype)
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat([a * c - b * s, b * c + a * s, rest], dim=-1)
