"""Rotary positions (RoPE): each pair of features is turned by an angle that grows with the position.

Symbols as in spec/rotary.md: B samples, H heads, L tokens, E width of a head, R ≤ E features that turn; p position in
tokens, ω_i frequency of pair i in radians per token. Pairs are neighbours here, (x_0, x_1), (x_2, x_3), …
"""

import math

import torch
from torch import Tensor, einsum

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal as causal_mask

# -- frequencies, in radians per token


def refuse_width(head_dim: int, rotary_dim: int) -> None:
    """Raise ValueError unless the features that turn come in pairs, and there are enough of them.

    Requirements: ROPE-ODD-1, ROPE-WIDTH-1.
    """
    if rotary_dim % 2 or not 0 < rotary_dim <= head_dim:
        raise ValueError(f"rotary_dim must be even, in 2 … {head_dim} (head_dim), found {rotary_dim}")


def frequencies(rotary_dim: int, base: float) -> Tensor:
    """Return ω_i = base^(-2i/R) for the pairs i = 0, …, R/2 - 1, float64.

    Requirements: ROPE-FREQ-1, ROPE-BASE-1, ROPE-PART-1, ROPE-FREQ-2.
    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.2.2, eq. (15).
    """
    return base ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)


def interpolate(omega: Tensor, factor: float) -> Tensor:
    """Return ω_i / s: position interpolation, by which position p turns as p / s did.

    Requirements: ROPE-SCALING-1.
    Source: Chen et al. 2023, arXiv:2306.15595, section 2.3.
    """
    return omega / factor


def stretch(omega: Tensor, factor: float) -> Tensor:
    """Return ω_i · s^(-2i/(R - 2)): "NTK-aware", the first pair turns as before and the last one s times slower.

    The same as the base · s^(R/(R - 2)). Raises ValueError for a single pair, which is first and last.

    Requirements: ROPE-SCALING-2.
    Source: bloc97 2023, as given by Peng et al. 2023, arXiv:2309.00071v2, section 3.1.
    """
    if len(omega) < 2:
        raise ValueError("NTK-aware scaling needs two pairs or more, found one")
    return omega * factor ** (-torch.arange(len(omega), dtype=omega.dtype) / (len(omega) - 1))


def blend(omega: Tensor, factor: float, kept: Tensor) -> Tensor:
    """Return what lies between ω / s, where kept is 0, and ω, where it is 1: omega, kept and out (I,)."""
    return (1 - kept) * interpolate(omega, factor) + kept * omega


def turns(omega: Tensor, length: float) -> Tensor:
    """Return how often each pair goes full circle over so many tokens: omega and out (I,)."""
    return omega * length / (2 * math.pi)


def llama3(omega: Tensor, factor: float, low: float, high: float, length: float) -> Tensor:
    """Return ω where a pair turns more than ``high`` times in ``length`` tokens, ω / s where less than ``low`` times.

    In between it is blended, linearly in the number of turns.

    Requirements: ROPE-SCALING-4.
    Source: Llama 3.1, published code (apply_scaling in models/llama3/reference_impl/model.py).
    """
    return blend(omega, factor, ((turns(omega, length) - low) / (high - low)).clamp(0, 1))


def index_of(turned: float, rotary_dim: int, base: float, length: float) -> float:
    """Return the index i, a real number, of the pair that would go full circle ``turned`` times in ``length`` tokens.

    Source: Peng et al. 2023, published code (_yarn_find_correction_dim).
    """
    return rotary_dim * math.log(length / (2 * math.pi * turned)) / (2 * math.log(base))


def yarn(omega: Tensor, base: float, factor: float, fast: float, slow: float, length: float) -> Tensor:
    """Return ω for the pairs that turn ``fast`` times and more in ``length`` tokens, ω / s for ``slow`` and less.

    In between it is blended, linearly in the index of the pair, between whole indices.

    Requirements: ROPE-SCALING-3.
    Source: Peng et al. 2023, arXiv:2309.00071v2, section 3.2, and their code (_yarn_find_correction_range).
    Deviates: the paper blends linearly in the number of turns; the code, and whatever was trained with it, does not.
    """
    R = 2 * len(omega)
    first = max(math.floor(index_of(fast, R, base, length)), 0)
    last = min(math.ceil(index_of(slow, R, base, length)), R - 1)
    width = last - first or 0.001  # a step instead of 0/0
    ramp = ((torch.arange(len(omega), dtype=omega.dtype) - first) / width).clamp(0, 1)
    return blend(omega, factor, 1 - ramp)


def scaled(omega: Tensor, base: float, scaling: tuple[tuple[str, float | str], ...] | None) -> Tensor:
    """Return the frequencies for longer sequences, as ``scaling`` says; as they are for None.

    Raises ValueError for an unknown kind, KeyError for a number that is not there.

    Source: spec/rotary.md, "Longer than trained".
    """
    if scaling is None:
        return omega
    kind = str(dict(scaling)["kind"])
    number = {name: float(value) for name, value in scaling if name != "kind"}
    s = number["factor"]
    if kind == "linear":
        return interpolate(omega, s)
    if kind == "ntk":
        return stretch(omega, s)
    if kind == "yarn":
        return yarn(omega, base, s, number["beta_fast"], number["beta_slow"], number["original_max_position"])
    if kind == "llama3":
        low, high = number["low_freq_factor"], number["high_freq_factor"]
        return llama3(omega, s, low, high, number["original_max_position"])
    raise ValueError(f"scaling must be linear, ntk, yarn or llama3, found {kind!r}")


def magnitude(scaling: tuple[tuple[str, float | str], ...] | None) -> float:
    """Return what cos and sin are multiplied by: YaRN's attention factor, else 1.

    Requirements: ROPE-SCALING-3.
    Source: Peng et al. 2023, arXiv:2309.00071v2, section 3.4.
    """
    return float(dict(scaling or ()).get("attention_factor", 1.0))


# -- positions, in tokens


def count(x: Tensor) -> Tensor:
    """Return the positions 0, 1, …, L - 1 of the tokens of x (B, H, L, E)."""
    return torch.arange(x.shape[-2], device=x.device)


def spread(positions: Tensor) -> Tensor:
    """Return positions (L,) or (B, L) so that they meet x (B, H, L, E): (L,) or (B, 1, L)."""
    return positions if positions.ndim == 1 else positions[:, None]  # (L,), or (B, L) -> (B, 1, L)


def refuse_positions(x: Tensor, positions: Tensor) -> None:
    """Raise ValueError unless there is one position a token: (L,), or (B, L) for x (B, H, L, E).

    Requirements: ROPE-POS-3.
    """
    B, L = x.shape[0], x.shape[-2]
    if tuple(positions.shape) not in {(L,), (B, L)}:
        raise ValueError(f"positions must have shape {(L,)} or {(B, L)}, found {tuple(positions.shape)}")


def angles(positions: Tensor, omega: Tensor) -> Tensor:
    """Return p · ω_i in radians: positions (...), omega (I,), out (..., I), float64 whatever the module's dtype.

    Requirements: ROPE-LONG-1, ROPE-HALF-1.
    """
    return einsum("...,i->...i", positions.double(), omega.to(positions.device))  # (..., I)


# -- rotation


def turn(x: Tensor, theta: Tensor) -> Tensor:
    """Return x with each pair of neighbours (x_2i, x_2i+1) turned by θ_i, from the first towards the second.

    Shapes:
        x      (..., L, R)
        theta  broadcastable to (..., L, R/2), in radians
        out    (..., L, R)

    Requirements: ROPE-PAIR-1, ROPE-NORM-1, ROPE-DIR-1, CALL-DTYPE-1.
    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.4.2, eq. (34).
    """
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)  # (..., L, R/2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., L, R/2) each
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)  # (..., L, R)


def rotate(x: Tensor, positions: Tensor | None, omega: Tensor, rotary_dim: int, size: float = 1.0) -> Tensor:
    """Return x with its first R features turned by position, and made ``size`` times as long; the rest passes.

    Shapes:
        x          (B, H, L, E)
        positions  (L,) or (B, L)   0, 1, … where none are given
        omega      (R/2,)
        out        (B, H, L, E)

    Raises ValueError unless R is even and at most E, and unless there is one position a token.

    Requirements: ROPE-ZERO-1, ROPE-REL-1, ROPE-REST-1, ROPE-POS-1, ROPE-POS-2.
    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.2.2; the rest that passes is GPT-J's (rotary_dim).
    """
    refuse_width(x.shape[-1], rotary_dim)
    positions = count(x) if positions is None else positions
    refuse_positions(x, positions)
    turned = turn(x[..., :rotary_dim], angles(spread(positions), omega))  # (B, H, L, R)
    return torch.cat([size * turned, x[..., rotary_dim:]], dim=-1)  # (B, H, L, E)


def to_half(x: Tensor) -> Tensor:
    """Return the features of x (..., R) in the order of the other pairing: first all first elements, then all second.

    ``to_half(rotate(x, …))`` is what an implementation that pairs (x_i, x_i+R/2) makes of ``to_half(x)``.
    """
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)  # (..., R)


# -- attention


def rotary_attention(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor | None, omega: Tensor, causal: bool = False
) -> Tensor:
    """Return attention with queries and keys turned, values not.

    Shapes:
        q, k, v    (B, H, L, E)
        positions  (L,) or (B, L)   0, 1, … where none are given
        omega      (E/2,)
        out        (B, H, L, E)

    Causality goes by the order of the tokens, whatever their positions.

    Requirements: ROPE-VALUE-1, ROPE-REL-2, ROPE-SCALE-1, ROPE-CAUSAL-1, ROPE-ORACLE-1.
    Source: Su et al. 2021, arXiv:2104.09864v5, section 3.2.2, eq. (16).
    """
    R = 2 * len(omega)
    mask = causal_mask(q.shape[-2], k.shape[-2]).to(q.device) if causal else None  # (L, L)
    return attend(rotate(q, positions, omega, R), rotate(k, positions, omega, R), v, mask)[0]
