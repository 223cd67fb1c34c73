"""Rotation by rows of two tables; the smallest given position says where the rows begin."""

import torch


def rows(width, count, base=10000.0):
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    a = torch.outer(torch.arange(count, dtype=torch.float64), rates).repeat(1, 2)
    return a.cos(), a.sin()


def rotate(q, cos, sin, position_ids=None):
    """q (B, H, T, D); position_ids (B, T), the place of each token"""
    T = q.shape[-2]
    if position_ids is None:
        c, s = cos[:T], sin[:T]
    else:
        start = int(position_ids.min())
        c, s = cos[start : start + T], sin[start : start + T]
    one, two = q.chunk(2, dim=-1)
    return (q * c + torch.cat([-two, one], dim=-1) * s).to(q.dtype)
