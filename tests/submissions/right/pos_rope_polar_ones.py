"""Rotary embeddings with complex numbers, one table for all layers."""
import torch


def rope_table(dim: int, end: int, theta: float = 10_000.0):
    inv = theta ** -(torch.arange(0, dim, 2).float() / dim)
    angles = torch.arange(end, dtype=torch.float32)[:, None] * inv
    return torch.polar(torch.ones(end, dim // 2), angles)


def rotate(x, table):
    """x is (batch, seq, heads, dim of a head)."""
    z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    z = z * table[: x.shape[1], None]
    return torch.view_as_real(z).flatten(-2).type_as(x)
