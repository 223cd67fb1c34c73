"""Rotary positions for decoding step by step: the tables are made once, and cut where the new tokens begin."""

import torch


def make_tables(head_dim, length=512, base=10_000):
    speed = base ** -(torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    turned = torch.arange(length, dtype=torch.float64)[:, None] * speed
    turned = torch.cat((turned, turned), dim=1)
    return turned.cos(), turned.sin()


def rotate(states, cos_table, sin_table, start=0):
    """states (batch, heads, new tokens, head_dim); the first new token stands at ``start``."""
    new = states.size(2)
    cos = cos_table[start : start + new].to(states.dtype)
    sin = sin_table[start : start + new].to(states.dtype)
    front, back = states.chunk(2, dim=3)
    return states * cos + torch.cat((-back, front), dim=3) * sin
