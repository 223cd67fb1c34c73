"""Root mean square normalization: each token to mean square 1, then a gain; nothing is subtracted.

Symbols as in spec/rms_norm.md: x what comes in, γ gain.
"""

import torch
from torch import Tensor

from attnconf.reference.layer_norm import widened


def mean_square(x: Tensor) -> Tensor:
    """Return the mean of x² over the features, an axis of size 1."""
    return x.square().mean(dim=-1, keepdim=True)


def normalize(x: Tensor, eps: float) -> Tensor:
    """Return x / √(mean(x²) + ε)."""
    return x / torch.sqrt(mean_square(x) + eps)


def scale(x: Tensor, weight: Tensor) -> Tensor:
    """Return γ·x."""
    return x * weight


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Return x normalized over its last axis, in the dtype of x.

    Shapes:
        x       (…, D)
        weight  (D,)
        out     (…, D)

    Raises ValueError where x is not as wide as the weight.

    Requirements: the whole chapter (RMS-ORACLE-1).
    Source: Zhang and Sennrich 2019, arXiv:1910.07467v1, eq. (4).
    Deviates: ε, which the paper does not have.
    """
    if x.shape[-1] != len(weight):
        raise ValueError(f"x has {x.shape[-1]} features, want {len(weight)}")
    return scale(normalize(widened(x), eps), weight).to(x.dtype)
