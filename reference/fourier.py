"""Fourier features: every coordinate as the sines and cosines of its multiples.

Symbols as in spec/fourier.md: d coordinates, K frequencies, M random directions; angles in radians.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, einsum


def widen(x: Tensor) -> Tensor:
    """Return x (...) in at least float32: in half precision an angle beyond 2^8 or 2^11 is off by whole radians.

    Requirements: FOUR-HALF-1, FOUR-RHALF-1.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))


def angles(x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return frequency · coordinate in radians, in at least float32.

    Shapes:
        x    (..., d)
        out  (..., d, K)

    Requirements: FOUR-FACTOR-1, FOUR-FREQ-1, FOUR-HIGH-1.
    """
    wide = widen(x)
    return einsum("...d,k->...dk", wide, torch.tensor(frequencies, dtype=wide.dtype, device=x.device))  # (..., d, K)


def join(sines: Tensor, cosines: Tensor) -> Tensor:
    """Return for every coordinate all its sines, then all its cosines.

    Shapes:
        sines, cosines  (..., d, K)
        out             (..., d·2K)

    Requirements: CALL-SHAPE-1, FOUR-ORDER-1 (declares: coordinate).
    """
    return torch.cat([sines, cosines], dim=-1).flatten(-2)  # (..., d, 2K) -> (..., d·2K)


def fourier(x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return the Fourier features of every point, in the dtype of x.

    Shapes:
        x    (..., d)
        out  (..., d·2K)

    Source: Mildenhall et al. 2020, arXiv:2003.08934v2, section 5.1, eq. (4), for frequencies π·2^k.
    """
    theta = angles(x, frequencies)  # (..., d, K)
    return join(theta.sin(), theta.cos()).to(x.dtype)


def random_angles(x: Tensor, projection: Tensor) -> Tensor:
    """Return 2πBx in radians, in at least float32.

    Shapes:
        x           (..., d)
        projection  (M, d)    B, in cycles per unit of x
        out         (..., M)

    Requirements: FOUR-RANGLE-1, FOUR-RFIXED-1.
    """
    return 2 * math.pi * einsum("...d,md->...m", widen(x), widen(projection))  # (..., M)


def random_fourier(x: Tensor, projection: Tensor) -> Tensor:
    """Return cos 2πBx, then sin 2πBx.

    Shapes:
        x           (..., d)
        projection  (M, d)    B, drawn once and kept
        out         (..., 2M)

    Requirements: FOUR-RORDER-1 (declares: cos-first).
    Source: Tancik et al. 2020, arXiv:2006.10739v1, section 5, eq. (5) without amplitudes.
    """
    theta = random_angles(x, projection)  # (..., M)
    return torch.cat([theta.cos(), theta.sin()], dim=-1).to(x.dtype)  # (..., 2M)
