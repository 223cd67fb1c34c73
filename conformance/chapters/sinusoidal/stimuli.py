"""What the checks of sinusoidal positions share: asking for an encoding, and reading it in one form."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Sinusoidal2dConfig, SinusoidalConfig
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.evidence import Measure, close, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape("B L features", "x({B}, {L}, {features})", multiples={"features": 2})
_ODD = replace(SHAPE, multiples={})
_GRID = Shape("rows features columns", "grid({rows}, {columns}, {features})", multiples={"features": 4})


# widths are even, and 4 at least: every layout and every choice of frequencies has them
USUAL = (
    SHAPE.case("sinusoidal-1", B=2, L=7, features=8),
    SHAPE.case("sinusoidal-2", B=3, L=11, features=6),
)
ONE = USUAL[:1]
BATCHES = (
    SHAPE.case("sinusoidal-batch-is-L-1", B=5, L=5, features=8),
    SHAPE.case("sinusoidal-batches-2", B=7, L=5, features=6),
)
EDGES = (
    SHAPE.case("sinusoidal-one-token-1", B=3, L=1, features=8),
    SHAPE.case("sinusoidal-one-sample-2", B=1, L=7, features=6),
    SHAPE.case("sinusoidal-narrow-3", B=2, L=7, features=4),
)
ODD = (
    _ODD.case("sinusoidal-odd-1", B=2, L=7, features=5),
    _ODD.case("sinusoidal-odd-2", B=3, L=11, features=7),
)
# bfloat16 tells whole numbers apart up to 256, float16 up to 2048
HALF = (SHAPE.case("sinusoidal-half-1", B=1, L=2063, features=22),)
LONG = (SHAPE.case("sinusoidal-long-1", B=1, L=4099, features=6, dtype=torch.float32),)
WIDE = (
    SHAPE.case("sinusoidal-wide-1", B=2, L=101, features=66),
    SHAPE.case("sinusoidal-far-2", B=1, L=1031, features=6),
)
GRID = (
    _GRID.case("sinusoidal-grid-1", rows=5, features=16, columns=7),
    _GRID.case("sinusoidal-grid-2", rows=7, features=8, columns=3),
    _GRID.case("sinusoidal-grid-square-3", rows=5, features=12, columns=5),
)
GRID_ONE = GRID[:1]
GRID_EDGES = (
    _GRID.case("sinusoidal-grid-row-1", rows=1, features=8, columns=7),
    _GRID.case("sinusoidal-grid-column-2", rows=7, features=8, columns=1),
)
GRID_WIDE = (_GRID.case("sinusoidal-grid-wide-1", rows=21, features=136, columns=35),)


def call_on(
    subject: Subject, case: Case, x: Tensor, positions: Tensor | None = None, changes: dict[str, Any] | None = None
) -> Call:
    """Return the call of the component on x, in x's dtype; ``changes`` are to the configuration."""
    length, dim = x.shape[1:]
    settings = {"max_len": length + 64, "dtype": x.dtype, "device": case.device, **(changes or {})}
    inputs = {"x": x} if positions is None else {"x": x, "positions": positions}
    return Call(subject.component, SinusoidalConfig(dim=dim, **settings), {}, inputs, tuple(x.shape))


def ask(
    subject: Subject, case: Case, x: Tensor, positions: Tensor | None = None, changes: dict[str, Any] | None = None,
    **options: Any,
) -> Reply:  # fmt: skip
    """Return the component's reply to x; options as in Request."""
    return subject.call(call_on(subject, case, x, positions, changes).asked(**options))


def zeros(case: Case, length: int | None = None) -> Tensor:
    return torch.zeros(case.B, length or case.L, case.features, dtype=case.dtype, device=case.device)


def rows(
    subject: Subject, case: Case, positions: Tensor | None = None, *, length: int | None = None, **changes: Any
) -> Tensor:
    """Return the encoding alone, float64 (L, dim), as the first sample gets it."""
    encoded = ask(subject, case, zeros(case, length), positions, changes).out[0].double()
    holds(bool((encoded != 0).any()), "the encoding is 0 everywhere")
    return encoded


def pairs(subject: Subject, encoded: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sines and the cosines, (…, dim/2) each, whatever the declared layout."""
    if subject.choice("sinusoidal-layout") == "interleaved":
        return encoded[..., 0::2], encoded[..., 1::2]
    first, second = encoded.chunk(2, dim=-1)
    return (first, second) if subject.choice("sinusoidal-layout") == "halves" else (second, first)


def turn(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """Return (sin, cos) of the angle from one set of pairs to the other, stacked last."""
    (s, c), (t, d) = one, other
    return torch.stack([t * c - d * s, d * c + t * s], dim=-1)


def frequencies(subject: Subject, dim: int, base: float = 10000.0) -> Tensor:
    """Return the declared frequencies of an axis with dim features, in radians per token, float64 (⌈dim/2⌉,)."""
    pair = torch.arange((dim + 1) // 2, dtype=torch.float64)
    if subject.choice("sinusoidal-frequencies") == "endpoint":
        return torch.exp(-pair / (dim // 2 - 1) * math.log(base))
    return torch.exp(-2 * pair / dim * math.log(base))


def offset(subject: Subject) -> int:
    """Return the declared position of the first token, row or column."""
    return int(subject.choice("sinusoidal-offset"))


def angles(subject: Subject, length: int, dim: int) -> Tensor:
    """Return the angles of so many tokens, in radians, float64 (length, ⌈dim/2⌉)."""
    positions = torch.arange(length, dtype=torch.float64) + offset(subject)
    return positions[:, None] * frequencies(subject, dim)


def start(subject: Subject, sines: Tensor, cosines: Tensor, what: str) -> Measure:
    """Return the measure of the first of some positions: it is where a step of the offset leads from it."""
    at = offset(subject)
    got = torch.stack([sines[0], cosines[0]], dim=-1)
    want = turn((sines[0], cosines[0]), (sines[at], cosines[at]))
    return close(got, want, f"(sin, cos) of the first {what}, against those of position {at},")


def factor(subject: Subject, case: Case) -> float:
    """Return what x is multiplied by, as declared."""
    return {"add": 1.0, "table": 0.0, "scaled-add": math.sqrt(case.features)}[subject.choice("sinusoidal-output")]


def drift(last: int) -> float:
    """Return how far float32 may be off at the last position.

    The angle p·ω is rounded by 2^-24 of itself, ω by up to as much, and sine and cosine change no faster than
    their angle; 2^-23 is for what they are rounded by themselves.
    """
    return 1.2e-7 * last + 2.0**-23


def drift_of_exponents(last: int) -> float:
    """Return how far float32 may be off at the last position where ω = exp(e), whose exponent e was rounded.

    e = (1 - t)·ln ω_first + t·ln ω_last is a difference of numbers up to ln 10000, each rounded by 2^-24 of itself, and
    what e is off by, ω is off by in relation to itself. Code that does this is not wrong, only less exact.
    """
    return (1 + math.log(10_000)) * 2.0**-24 * last + 2.0**-23


EXPONENTS_SOURCE = "float32, frequencies from rounded exponents: 6.1e-7·(last position) + 2^-23"
DRIFT_SOURCE = "drift of float32: 1.2e-7·(last position) + 2^-23"
HALF_SOURCE = "half precision: one unit in the last place, and the drift of float32"


def near(subject: Subject, case: Case, got: Tensor, bound: float, source: str) -> Iterator[Measure]:
    """Yield the measures of sines and cosines against the formula."""
    sines, cosines = pairs(subject, got)
    which = f"angles {subject.choice('sinusoidal-frequencies')} from {offset(subject)}"
    theta = case.once(which, lambda: angles(subject, case.L, case.features).to(case.device))
    yield close(sines, theta.sin(), "sines", bound=bound, source=source, unit=1.0)
    yield close(cosines, theta.cos()[:, : case.features // 2], "cosines", bound=bound, source=source, unit=1.0)


# -- on a grid


def grid_call(subject: Subject, case: Case, **changes: Any) -> Call:
    """Return the call of the component for the grid of a case; ``changes`` are to the configuration."""
    settings = {"dim": case.features, "dtype": case.dtype, "device": case.device, **changes}
    inputs = {"height": case.rows, "width": case.columns}
    return Call(
        subject.component, Sinusoidal2dConfig(**settings), {}, inputs, (case.rows, case.columns, settings["dim"])
    )


def cells(subject: Subject, case: Case, before: tuple[int, int] | None = None, **changes: Any) -> Reply:
    """Return the component's reply for the grid of a case; ``before``: height and width of an earlier call."""
    earlier = ({"height": before[0], "width": before[1]},) if before else ()
    return subject.call(grid_call(subject, case, **changes).asked(before=earlier))


def by_axis(subject: Subject, out: Tensor) -> tuple[Tensor, Tensor]:
    """Return the features that encode the column and those that encode the row, (height, width, dim/2) each."""
    first, second = out.double().chunk(2, dim=-1)
    return (first, second) if subject.choice("grid-axes") == "width-first" else (second, first)


def axis_pairs(subject: Subject, features: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sines and the cosines of the features of one axis, whatever the declared layout."""
    if subject.choice("grid-layout") == "interleaved":
        return features[..., 0::2], features[..., 1::2]
    sines, cosines = features.chunk(2, dim=-1)
    return sines, cosines


def edges(subject: Subject, case: Case, **changes: Any) -> tuple[Tensor, Tensor]:
    """Return the features (columns, dim/2) of the columns in the first row, and those of the rows, (rows, dim/2)."""
    columns, rows_ = by_axis(subject, cells(subject, case, **changes).out)
    return columns[0], rows_[:, 0]
