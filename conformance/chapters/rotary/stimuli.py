"""What the checks of rotary positions share: how a component is asked, and how the rotation is read off it."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, einsum

from attnconf.adapters.contract import COMPONENTS, RotaryAttentionConfig, RotaryConfig
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.evidence import Failure, Measure, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape("B H L E", "x({B}, {H}, {L}, {E})", multiples={"E": 2}, heads="H")
_ATTENTION = replace(SHAPE, shown="query, key, value ({B}, {H}, {L}, {E})")


USUAL = (
    SHAPE.case("rotary-1", B=2, H=3, L=5, E=8),
    SHAPE.case("rotary-2", B=3, H=2, L=7, E=6),
)
ONE = USUAL[:1]
EDGES = (
    SHAPE.case("rotary-one-token-1", B=2, H=3, L=1, E=8),
    SHAPE.case("rotary-one-sample-2", B=1, H=3, L=5, E=6),
    SHAPE.case("rotary-one-head-3", B=3, H=1, L=5, E=4),
    SHAPE.case("rotary-one-pair-4", B=3, H=4, L=5, E=2),
)
# as many samples as tokens or heads, so that positions along the wrong axis are wrong instead of refused
SINGLE = (
    SHAPE.case("rotary-single-sample-1", B=1, H=3, L=5, E=6),
    SHAPE.case("rotary-single-head-2", B=2, H=1, L=5, E=8),
)
BATCHES = (
    SHAPE.case("rotary-batch-is-L-1", B=4, H=3, L=4, E=6),
    SHAPE.case("rotary-batch-is-H-2", B=3, H=3, L=5, E=8),
)
POSITIONS = (
    SHAPE.case("rotary-positions-1", B=3, H=2, L=5, E=6),
    SHAPE.case("rotary-positions-batch-is-L-2", B=4, H=3, L=4, E=6),
)
PARTIAL = (SHAPE.case("rotary-partial-1", B=2, H=3, L=5, E=10),)
SCALED = (SHAPE.case("rotary-scaled-1", B=2, H=3, L=5, E=16),)
# off every tile, and past the integers that bfloat16 (256) and, in float32, float16 (2048) still tell apart
LONG = (SHAPE.case("rotary-long-1", B=1, H=2, L=2503, E=8),)
HALF = (SHAPE.case("rotary-half-1", B=1, H=2, L=2099, E=12),)
# no more tokens than features: with unit vectors as values the output shows the weights
ATTENTION = (
    _ATTENTION.case("rotary-attention-1", B=2, H=3, L=6, E=8),
    _ATTENTION.case("rotary-attention-2", B=3, H=2, L=5, E=10),
)


def config_for(case: Case, **changes: Any) -> RotaryConfig:
    """Return the configuration in which all features of a case turn."""
    width = changes.get("head_dim", case.E)
    usual = {"head_dim": width, "rotary_dim": width, "max_len": max(64, case.L)}
    return RotaryConfig(**{**usual, "dtype": case.dtype, "device": case.device, **changes})


def rotated(subject: Subject, case: Case, x: Tensor, positions: Tensor | None = None, **changes: Any) -> Tensor:
    """Return x (B, H, L, E) as the subject rotates it; further keywords are those of the configuration."""
    before = changes.pop("before", ())
    inputs = {"x": x} if positions is None else {"x": x, "positions": positions}
    config = config_for(case, **{"head_dim": x.shape[-1], "max_len": max(64, x.shape[-2]), **changes})
    return subject.ask(config, inputs, tuple(x.shape), before=before).out


def generic(subject: Subject, case: Case, **options: Any) -> Reply:
    """Return the reply of either component to inputs of a case; options as in Request."""
    return ask_either(subject, case, drawn(case), **options)


def drawn(case: Case) -> Tensor:
    return case.draw("x", case.B, case.H, case.L, case.E)


def ask_either(subject: Subject, case: Case, x: Tensor, dtype: torch.dtype | None = None, **options: Any) -> Reply:
    """Return the reply of either component to x, as query, key and value where there are three."""
    return subject.call(call_on(subject, case, x, dtype).asked(**options))


def call_on(subject: Subject, case: Case, x: Tensor, dtype: torch.dtype | None = None) -> Call:
    """Return the call of either component on x, as query, key and value where there are three."""
    names = inputs_of(subject)
    dtype = dtype or case.dtype
    if subject.offers("scores"):
        config: Any = attention_config(case, num_heads=x.shape[1], head_dim=x.shape[-1], dtype=dtype)
    else:
        config = config_for(case, head_dim=x.shape[-1], dtype=dtype)
    # different tensors, or a mistake that changes one of them would be hidden in the others
    inputs = {name: x.roll(at, dims=0).to(dtype) for at, name in enumerate(names)}
    return Call(subject.component, config, {}, inputs, tuple(x.shape))


def inputs_of(subject: Subject) -> tuple[str, ...]:
    return COMPONENTS[subject.component].inputs


def refused(subject: Subject, case: Case, what: str, x: Tensor, **changes: Any) -> Measure:
    """Return a measure if the subject raises an exception for x in this configuration."""
    try:
        if subject.offers("scores"):
            ask_either(subject, case, x)
        else:
            rotated(subject, case, x, **changes)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


# -- the two pairings


def to_pairs(x: Tensor, pairing: str) -> Tensor:
    """Return features (..., R) as pairs (..., R/2, 2): the canonical form, in which the pairings are the same."""
    if pairing == "interleaved":
        return x.unflatten(-1, (-1, 2))
    return x.unflatten(-1, (2, -1)).transpose(-1, -2)


def to_features(pairs: Tensor, pairing: str) -> Tensor:
    """Return pairs (..., R/2, 2) as features (..., R), in the order of a pairing."""
    if pairing == "interleaved":
        return pairs.flatten(-2)
    return pairs.transpose(-1, -2).flatten(-2)


# -- the rotation as a matrix


def operators(
    subject: Subject, case: Case, length: int, positions: Tensor | None = None, **changes: Any
) -> Tensor:  # fmt: skip
    """Return R_p for every token, (L, E, E): out = R_p x. Every sample is one unit vector."""
    width = changes.get("head_dim", case.E)
    eye = torch.eye(width, dtype=case.dtype, device=case.device)
    x = eye[:, None, None, :].expand(width, 1, length, width).contiguous()
    matrices = rotated(subject, case, x, positions, **changes)[:, 0].permute(1, 2, 0)
    holds(bool((matrices != 0).any()), "R_p is 0 at every position")
    return matrices.to(eye.dtype)  # another dtype is CALL-DTYPE-1's matter, and no error of the suite


def blocks(subject: Subject, case: Case, length: int, **changes: Any) -> Tensor:
    """Return what each pair does to itself: (L, R/2, 2, 2), rows and columns first and second element."""
    matrix = operators(subject, case, length, **changes)
    pairs = to_pairs(to_pairs(matrix, choice(subject)).movedim(1, -1), choice(subject))  # (L, i, column, j, row)
    return torch.diagonal(pairs, dim1=1, dim2=3).permute(0, 3, 2, 1)


def choice(subject: Subject) -> str:
    return subject.choice("rope-pairing")


def formula(positions: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
    """Return cos and sin of p · ω_i, each (..., I), float64."""
    theta = einsum("...,i->...i", positions.double(), omega.double())
    return theta.cos(), theta.sin()


def frequencies(width: int, base: float) -> Tensor:
    """Return base^(-2i/R), written otherwise than the reference does."""
    return torch.tensor([base ** (-2 * i / width) for i in range(width // 2)], dtype=torch.float64)


def turned(x: Tensor, positions: Tensor, omega: Tensor, pairing: str) -> Tensor:
    """Return x (..., L, R) turned by the formula, float64."""
    cos, sin = formula(positions, omega.to(x.device))
    first, second = to_pairs(x.double(), pairing).unbind(-1)
    return to_features(torch.stack([first * cos - second * sin, second * cos + first * sin], dim=-1), pairing)


# -- attention


def attention_config(case: Case, **changes: Any) -> RotaryAttentionConfig:
    usual = {"num_heads": case.H, "head_dim": case.E, "dtype": case.dtype, "device": case.device}
    return RotaryAttentionConfig(**{**usual, **changes})


def attended(
    subject: Subject, case: Case, q: Tensor, k: Tensor, v: Tensor, positions: Tensor | None = None, **changes: Any
) -> Tensor:  # fmt: skip
    """Return attention on q, k and v (B, H, L, E) as the subject computes it."""
    inputs = {"query": q, "key": k, "value": v} | ({} if positions is None else {"positions": positions})
    config = attention_config(case, num_heads=q.shape[1], **changes)
    return subject.ask(config, inputs, tuple(v.shape)).out


def weights_of(subject: Subject, case: Case, q: Tensor, k: Tensor, **changes: Any) -> Tensor:
    """Return the attention weights (B, H, L, L): with unit vectors as values the output shows them (L ≤ E)."""
    v = torch.eye(q.shape[-2], q.shape[-1], dtype=q.dtype, device=q.device).expand_as(q).contiguous()
    return attended(subject, case, q, k, v, **changes)[..., : q.shape[-2]]
