"""Fourier features: every coordinate as the sines and cosines of its multiples.

Symbols as in spec/fourier.md: d coordinates, K frequencies, M random directions.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, einsum


def angles(x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return frequency · coordinate in radians: x (..., d), out (..., d, K), in at least float32."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return einsum("...d,k->...dk", x.to(wide), torch.tensor(frequencies, dtype=wide, device=x.device))


def fourier(x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return for every coordinate all sines, then all cosines.

    Shapes:
        x    (..., d)
        out  (..., d·2K)

    Source: Mildenhall et al. 2020, arXiv:2003.08934v2, section 5.1, eq. (4), for frequencies π·2^k.
    """
    theta = angles(x, frequencies)
    return torch.cat([theta.sin(), theta.cos()], dim=-1).flatten(-2).to(x.dtype)


def random_fourier(x: Tensor, projection: Tensor) -> Tensor:
    """Return cos 2πBx, then sin 2πBx.

    Shapes:
        x           (..., d)
        projection  (M, d)    B, drawn once and kept
        out         (..., 2M)

    Source: Tancik et al. 2020, arXiv:2006.10739v1, section 5, eq. (5) without amplitudes.
    """
    theta = 2 * math.pi * einsum("...d,md->...m", x, projection)
    return torch.cat([theta.cos(), theta.sin()], dim=-1)
