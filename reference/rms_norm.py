"""Root mean square normalization: each token to mean square 1, then a gain; nothing is subtracted.

Symbols as in spec/rms_norm.md: x what comes in, γ gain.
"""

import torch
from torch import Tensor

from attnconf.reference.layer_norm import root, widened


def refuse_misfits(x: Tensor, weight: Tensor) -> None:
    """Raise ValueError where x is not (..., D) for a weight (D,): broadcasting would go on, with other numbers."""
    if x.shape[-1:] != weight.shape:
        raise ValueError(f"x ends in {tuple(x.shape[-1:])}, want {tuple(weight.shape)}")


def mean_square(x: Tensor) -> Tensor:
    """Return the mean of x² over the features: (..., D) to (..., 1)."""
    return x.square().mean(dim=-1, keepdim=True)


def spread(x: Tensor, eps: float, place: str) -> Tensor:
    """Return what x is divided by, (..., D) to (..., 1): √(mean(x²) + ε), or √mean(x²) + ε where ε stands outside."""
    square = mean_square(x)
    return torch.sqrt(square + eps) if place == "inside" else root(square) + eps


def normalize(x: Tensor, eps: float, place: str) -> Tensor:
    """Return x̂, (..., D): x by its spread."""
    return x / spread(x, eps, place)


def scale(x: Tensor, weight: Tensor) -> Tensor:
    """Return γ·x̂, (..., D)."""
    return x * weight


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6, place: str = "inside") -> Tensor:
    """Return x normalized over its last axis, in the dtype of x.

    Shapes:
        x       (..., D)
        weight  (D,)
        out     (..., D)

    ``place``: where ε stands, inside or outside the root. Raises ValueError where x is not as wide as the weight.

    Requirements: the whole chapter (RMS-ORACLE-1), declared as rms-norm-weight: plain, rms-norm-cast: after.
    Source: Zhang and Sennrich 2019, arXiv:1910.07467v1, eq. (4); for outside their code, rmsnorm_torch.py.
    Deviates: ε, which that equation does not have.
    """
    refuse_misfits(x, weight)
    return scale(normalize(widened(x), eps, place), weight).to(x.dtype)
