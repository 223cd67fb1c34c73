"""Rotations by loops."""

import math

import numpy as np
import torch


def draw(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def to_interleaved(x):
    """Return features in the order of halves as neighbours."""
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)


def turned_by_loops(x, positions, omega):
    """Return x (B, H, L, E) with its first 2·len(omega) features turned, one pair at a time; positions (B, L)."""
    out = x.clone()
    for b, h, t in np.ndindex(*x.shape[:3]):
        for i, frequency in enumerate(omega):
            angle = int(positions[b][t]) * frequency
            z = complex(x[b, h, t, 2 * i], x[b, h, t, 2 * i + 1]) * complex(math.cos(angle), math.sin(angle))
            out[b, h, t, 2 * i], out[b, h, t, 2 * i + 1] = z.real, z.imag
    return out


def close(got, want, bound=1e-12):
    torch.testing.assert_close(got, torch.as_tensor(want, dtype=got.dtype), rtol=0, atol=bound)
