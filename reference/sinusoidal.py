"""Sinusoidal positions, in one dimension and on a grid.

Symbols as in spec/sinusoidal.md: B samples, L tokens, D features; p position in tokens, i the number of a pair of
features, ω_i its frequency in radians per token.
"""

import torch
from torch import Tensor, einsum


def frequencies(dim: int, base: float) -> Tensor:
    """Return ω_i = base^(-2i/dim) for the pairs i = 0, …, ⌈dim/2⌉ - 1, float64.

    Requirements: SIN-FREQ-1, SIN-BASE-1, SIN-GRID-5, SIN-GRID-6.
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.5.
    """
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def angles(positions: Tensor, omega: Tensor) -> Tensor:
    """Return p · ω_i in radians.

    Shapes:
        positions  (...)     any integer or float dtype
        omega      (I,)
        out        (..., I)  float64: float32 is off by 6e-8 of the position, half precision by whole turns

    Requirements: SIN-SHIFT-1, SIN-LONG-1, SIN-HALF-1.
    """
    return einsum("...,i->...i", positions.double(), omega.to(positions.device))  # (..., I)


def interleave(theta: Tensor, dim: int) -> Tensor:
    """Return sin θ_0, cos θ_0, sin θ_1, …: sines in the even features, cosines in the odd ones.

    Shapes:
        theta  (..., I)
        out    (..., dim)  the last cosine is left out where dim is odd

    Requirements: SIN-PAIR-1, SIN-ODD-1 (declares: interleaved).
    """
    return torch.stack([theta.sin(), theta.cos()], dim=-1).flatten(-2)[..., :dim]  # (..., I, 2) -> (..., dim)


def encode(positions: Tensor, dim: int, base: float = 10000.0) -> Tensor:
    """Return PE(p) for every position.

    Shapes:
        positions  (...)
        out        (..., dim)  float64

    Source: Vaswani et al. 2017, arXiv:1706.03762v7, section 3.5.
    """
    return interleave(angles(positions, frequencies(dim, base)), dim)


def count(x: Tensor) -> Tensor:
    """Return the positions 0, 1, …, L - 1 of the tokens of x (B, L, D).

    Requirements: SIN-ZERO-1, SIN-BATCH-1.
    """
    return torch.arange(x.shape[1], device=x.device)


def refuse_positions(positions: Tensor, x: Tensor) -> None:
    """Raise ValueError unless there is one position for each token of x (B, L, D), in all samples or in each.

    Said explicitly because a single position would be broadcast over all tokens.

    Requirements: SIN-POS-5.
    """
    if tuple(positions.shape) not in ((x.shape[1],), tuple(x.shape[:2])):
        want = f"{(x.shape[1],)} or {tuple(x.shape[:2])}"
        raise ValueError(f"positions have shape {tuple(positions.shape)}, want {want}")


def add(x: Tensor, encoded: Tensor) -> Tensor:
    """Return x + PE in the dtype of x.

    Shapes:
        x        (B, L, D)
        encoded  (L, D) or (B, L, D)

    Requirements: SIN-ADD-1, CALL-DTYPE-1, SIN-GRAD-1.
    """
    return x + encoded.to(x.dtype)


def drop(out: Tensor, probability: float) -> Tensor:
    """Return ``out`` (B, L, D), each element zero with that probability and divided by what is left of 1 otherwise.

    Requirements: SIN-DROP-1, SIN-DROP-2.
    """
    return torch.dropout(out, probability, train=probability > 0)


def sinusoidal(
    x: Tensor, positions: Tensor | None = None, base: float = 10000.0, dropout: float = 0.0
) -> Tensor:  # fmt: skip
    """Return x with the encoding of its tokens' positions added.

    Shapes:
        x          (B, L, D)
        positions  (L,) or (B, L)   in tokens, integers or fractions, also negative; 0, 1, … where none are given
        out        (B, L, D)        in the dtype of x

    ``dropout`` is a probability; pass 0 outside training.
    Raises ValueError where there is not one position for each token.

    Requirements: the chapter's one-dimensional part (SIN-ORACLE-1).
    Source: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3.5 and 5.4.
    """
    positions = count(x) if positions is None else positions
    refuse_positions(positions, x)
    return drop(add(x, encode(positions, x.shape[-1], base)), dropout)


def refuse_width(dim: int) -> None:
    """Raise ValueError unless two axes can each have pairs of features: dim a multiple of 4.

    Requirements: SIN-GRID-9.
    """
    if dim % 4:
        raise ValueError(f"dim must be a multiple of 4 for two axes, found {dim}")


def grid(height: int, width: int, dim: int, base: float = 10000.0) -> Tensor:
    """Return the encoding of every cell: half of the features for its column, the other half for its row.

    Shapes:
        out  (height, width, dim)  float64; within a half all sines, then all cosines

    Raises ValueError unless dim is a multiple of 4.

    Requirements: the chapter's two-dimensional part (SIN-ORACLE-2).
    Source: He et al. 2021, arXiv:2111.06377v3, appendix A.1, and its published code.
    """
    refuse_width(dim)
    columns = halves(torch.arange(width), dim // 2, base)  # (width, dim/2)
    rows = halves(torch.arange(height), dim // 2, base)  # (height, dim/2)
    return lay_out(columns, rows)


def halves(positions: Tensor, dim: int, base: float) -> Tensor:
    """Return all sines, then all cosines, of one axis: (L,) -> (L, dim).

    Requirements: SIN-GRID-4, SIN-GRID-7, SIN-GRID-8 (declares: halves).
    """
    theta = angles(positions, frequencies(dim, base))  # (L, dim/2)
    return torch.cat([theta.sin(), theta.cos()], dim=-1)  # (L, dim)


def lay_out(columns: Tensor, rows: Tensor) -> Tensor:
    """Return the grid (Y, X, D + D) of the columns' (X, D), which come first, and the rows' (Y, D).

    Requirements: CALL-SHAPE-1, SIN-GRID-3 (declares: width-first).
    """
    height, width = len(rows), len(columns)
    return torch.cat([columns.expand(height, -1, -1), rows[:, None].expand(-1, width, -1)], dim=-1)  # (Y, X, 2D)
