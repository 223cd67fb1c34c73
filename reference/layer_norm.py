"""Layer normalization: each token to mean 0 and variance 1 over its features, then a gain and a shift.

Symbols as in spec/layer_norm.md: x what comes in, μ and σ² its mean and variance over the last axes, γ gain, β shift.
Shapes are written for one axis of D features; where ``shape`` has several axes, read (..., *shape) for (..., D).
"""

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor


@dataclass(frozen=True)
class Divisor:
    """What the deviations are divided by, where implementations differ. The paper's is (biased, inside)."""

    variance: str = "biased"  # the sum of squares over D; or unbiased, over D - 1
    eps: str = "inside"  # √(σ² + ε); or outside, σ + ε


def refuse_misfits(x: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError where x, (..., D), does not end in ``shape``: broadcasting would go on, with other numbers."""
    last = tuple(x.shape[max(0, x.ndim - len(shape)) :])
    if last != tuple(shape):
        raise ValueError(f"x ends in {last}, want {tuple(shape)}")


def last_axes(x: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes of x, (..., D), that are normalized, counted from the end: (-1,), (-2, -1), …"""
    return tuple(range(-len(shape), 0))


def widened(x: Tensor) -> Tensor:
    """Return x, (...,), in float32, or in its own dtype where that is wider.

    Half precision cannot hold a sum of squares: float16 lacks the range, bfloat16 the digits.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))


def mean(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the mean over the axes, which stay as axes of size 1: (..., D) to (..., 1)."""
    return x.mean(dim=axes, keepdim=True)


def variance(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the biased variance, the mean of (x - μ)²: (..., D) to (..., 1).

    First the difference, then the square: E[x²] - μ² is the same on paper, and cancels where μ is large.
    """
    return mean((x - mean(x, axes)).square(), axes)


def correction(x: Tensor, axes: tuple[int, ...], how: Divisor) -> float:
    """Return what the biased variance of x, (..., D), is multiplied by: 1, or D/(D - 1), infinite for one feature."""
    count = prod(x.shape[axis] for axis in axes)
    return 1.0 if how.variance == "biased" else count / (count - 1) if count > 1 else torch.inf


def root(square: Tensor) -> Tensor:
    """Return √σ², (..., 1), with slope 0 instead of none where σ² is 0: equal features are divided by ε alone."""
    return torch.where(square == 0, 0.0, torch.sqrt(torch.where(square == 0, 1.0, square)))


def spread(x: Tensor, axes: tuple[int, ...], eps: float, how: Divisor) -> Tensor:
    """Return √(σ² + ε), or σ + ε, what the deviations are divided by: (..., D) to (..., 1)."""
    square = variance(x, axes) * correction(x, axes, how)
    return torch.sqrt(square + eps) if how.eps == "inside" else root(square) + eps


def normalize(x: Tensor, axes: tuple[int, ...], eps: float, how: Divisor) -> Tensor:
    """Return x̂ = (x - μ) / √(σ² + ε), (..., D)."""
    return (x - mean(x, axes)) / spread(x, axes, eps, how)


def scale_and_shift(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return γ·x̂ + β, (..., D), of which either may be missing. Source: Ba et al. 2016, eq. (4)."""
    scaled = x if weight is None else x * weight
    return scaled if bias is None else scaled + bias


def layer_norm(
    x: Tensor, shape: tuple[int, ...], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    how: Divisor | None = None,
) -> Tensor:  # fmt: skip
    """Return x normalized over its last axes, in the dtype of x.

    Shapes:
        x             (..., *shape)
        weight, bias  shape, or None
        out           (..., *shape)

    ``how`` is by default the paper's divisor. Raises ValueError where the last axes of x are not ``shape``.

    Requirements: the whole chapter (LN-ORACLE-1).
    Source: Ba et al. 2016, arXiv:1607.06450v1, eq. (3) and (4); for (unbiased, outside) Rush 2018, class LayerNorm.
    Deviates: ε, which those equations do not have.
    """
    refuse_misfits(x, shape)
    normalized = normalize(widened(x), last_axes(x, shape), eps, how or Divisor())
    return scale_and_shift(normalized, weight, bias).to(x.dtype)
