"""Rotary positions (RoPE): each pair of features is turned by an angle that grows with the position.

Symbols as in spec/rotary.md: B samples, H heads, L tokens, E width of a head, R ≤ E features that turn; p position in
tokens, ω_i frequency of pair i in radians per token.
"""

import torch
from torch import Tensor, einsum

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask


def refuse_width(head_dim: int, rotary_dim: int) -> None:
    """Raise ValueError unless the features that turn come in pairs, and there are enough of them."""
    if rotary_dim % 2 or not 0 < rotary_dim <= head_dim:
        raise ValueError(f"rotary_dim must be even, in 2 … {head_dim} (head_dim), found {rotary_dim}")


def frequencies(rotary_dim: int, base: float) -> Tensor:
    """Return ω_i = base^(-2i/R) for the pairs i = 0, …, R/2 - 1, float64.

    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.2.2, eq. (15).
    """
    return base ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)


def angles(positions: Tensor, omega: Tensor) -> Tensor:
    """Return p · ω_i in radians: positions (...), omega (I,), out (..., I), float64 whatever the module's dtype."""
    return einsum("...,i->...i", positions.double(), omega.to(positions.device))


def turn(x: Tensor, theta: Tensor) -> Tensor:
    """Return x with each pair of neighbours (x_2i, x_2i+1) turned by θ_i, from the first towards the second.

    Shapes:
        x      (..., L, R)
        theta  broadcastable to (..., L, R/2)

    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.4.2, eq. (34).
    """
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def count(x: Tensor) -> Tensor:
    """Return the positions 0, 1, …, L - 1 of the tokens of x (B, H, L, E)."""
    return torch.arange(x.shape[-2], device=x.device)


def spread(positions: Tensor) -> Tensor:
    """Return positions (L,) or (B, L) so that they meet x (B, H, L, E): (L,) or (B, 1, L)."""
    return positions if positions.ndim == 1 else positions[:, None]


def rotate(x: Tensor, positions: Tensor | None, omega: Tensor, rotary_dim: int) -> Tensor:
    """Return x with its first R features turned by position; the rest passes.

    Shapes:
        x          (B, H, L, E)
        positions  (L,) or (B, L)   0, 1, … where none are given
        omega      (R/2,)
        out        (B, H, L, E)

    Raises ValueError unless R is even and at most E.
    """
    refuse_width(x.shape[-1], rotary_dim)
    positions = count(x) if positions is None else positions
    theta = angles(spread(positions), omega)
    return torch.cat([turn(x[..., :rotary_dim], theta), x[..., rotary_dim:]], dim=-1)


def rotary_attention(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor | None, omega: Tensor, causal: bool = False
) -> Tensor:
    """Return attention with queries and keys turned, values not: q, k, v and out (B, H, L, E)."""
    R = 2 * len(omega)
    mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None
    return attend(rotate(q, positions, omega, R), rotate(k, positions, omega, R), v, mask)[0]
