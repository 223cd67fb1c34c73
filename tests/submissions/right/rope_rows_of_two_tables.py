"""Half rotation with two tables that are made once, and looked up where tokens say where they stand."""

import torch


def sine_tables(head_dim, max_len, base=10000.0):
    """Returns (cos, sin), both (max_len, head_dim)."""
    rates = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    turns = torch.arange(max_len, dtype=torch.float64)[:, None] * torch.cat([rates, rates])
    return turns.cos(), turns.sin()


def swap_halves(t):
    first, second = t.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def rotate_heads(heads, cos, sin, position_ids=None):
    """heads (B, H, T, D). cos, sin: the rows of the T tokens; with position_ids (B, T) or (T,) the whole tables."""
    if position_ids is not None:
        cos, sin = cos[position_ids], sin[position_ids]
        if position_ids.ndim == 2:
            cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return (heads * cos + swap_halves(heads) * sin).to(heads.dtype)
