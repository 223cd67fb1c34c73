"""Rotary positions with the axes of every array behind its name: N samples, T tokens, H heads, E features."""

import torch


def rotate(x_NTHE, positions_NT, *, longest_wave=10_000):
    half = x_NTHE.shape[-1] // 2
    speed_E = longest_wave ** (-torch.arange(half, device=x_NTHE.device).double() / half)
    turn_NTE = positions_NT[..., None] * speed_E
    cos, sin = (f(turn_NTE)[..., None, :].to(x_NTHE.dtype) for f in (torch.cos, torch.sin))
    left, right = x_NTHE[..., :half], x_NTHE[..., half:]
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)
