"""Evidence: the measures that a check yields, the Failure that it raises, and the comparisons that make them.

Bounds are written so that NaN fails: ``if error <= bound: return``.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnconf.conformance.worker.handing_over import same_values

# Meaning is judged by a gap, not by rounding: right code in the wild reassociates, and takes √ and softmax in float32.
SEMANTIC = 1e-6
SEMANTIC_SOURCE = "semantic gap: 1e-6·max|want|"
# Through several layers, or backward through their norms, float32 errors add up to more.
SINGLE, SINGLE_SOURCE = 1e-5, "1e-5·max|want|: 80 roundings of float32"
# Central differences of order 4 with step 1e-2: truncation ~1e-8, and float32 rounding over the step ~1e-5.
DIFFERENCES = 1e-4
DIFFERENCES_SOURCE = "central differences: 1e-4·max|want|"


@dataclass(frozen=True)
class Measure:
    """A comparison that held."""

    error: float = 0.0
    bound: float = 0.0


@dataclass(frozen=True)
class Observed:
    """A convention (a choice that the spec leaves open) as observed in the implementation."""

    convention: str
    choice: str


class Failure(Exception):
    """The implementation's fault, with one of the reasons of the results schema."""

    def __init__(self, reason: str, message: str, **details: float | str):
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.at = ""  # the line of the implementation that raised: "homework.py:12", or ""
        self.seen: dict[str, list[Tensor]] = {}  # the steps of a call that was watched
        self.meant = False  # the implementation's own code raised it, by ``raise`` or ``assert``
        self.details = details  # error, bound, source: floats and where the bound comes from

    def alone(self) -> "Failure":
        """Return it without the exceptions and frames behind it, which would keep every local of a run alive."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)


class GradientsNotAsked(Exception):
    """A check reads gradients where the profile asks for none: what it measured before that counts."""


class Unsupported(Exception):
    """An adapter's NotImplementedError, with its words on what is not supported."""


def close(
    got: Tensor, want: Tensor, what: str = "out", *, bound: float = SEMANTIC, source: str = SEMANTIC_SOURCE,
    unit: float | None = None,
) -> Measure:  # fmt: skip
    """Return the measure if max|got - want| <= bound · unit (unit: max|want|); raise Failure where it is worst."""
    got, want = got.detach().double(), want.detach().double()
    if got.shape != want.shape:
        raise Failure("shape", f"{what} has shape {tuple(got.shape)}, want {tuple(want.shape)}")
    difference = (got - want).abs()
    unit = float(want.abs().max()) if unit is None and want.numel() else unit or 0.0
    limit = bound * unit
    error = float(difference.max()) if got.numel() else 0.0
    if error <= limit:
        return Measure(error, limit)
    raise _worst(got, want, difference, what, limit, source)


def _worst(got: Tensor, want: Tensor, difference: Tensor, what: str, limit: float, source: str) -> Failure:
    at = int(torch.where(difference.isnan(), torch.inf, difference).argmax())
    where = ", ".join(str(int(i)) for i in np.unravel_index(at, got.shape))
    off = 100.0 * float((~(difference <= limit)).double().mean())
    error = float(difference.flatten()[at])
    index = f" at [{where}]" if " " in what else f"[{where}]"  # "out[0, 1]", "out of sample 0 alone at [0, 1]"
    place = what.removesuffix(",") + (index if where else "")
    if not torch.isfinite(got.flatten()[at]):
        message = _not_finite(got, want, at, place)
        blind = not torch.isfinite(want.flatten()[at])  # nothing is learnt from a comparison of NaN with NaN
        return Failure("nonfinite", message, error=error, bound=limit, source=source, off=off, blind=blind)
    message = f"{place}: got {got.flatten()[at]:.6g}, want {want.flatten()[at]:.6g}"
    return Failure("value", message, error=error, bound=limit, source=source, off=off)


def _not_finite(got: Tensor, want: Tensor, at: int, place: str) -> str:
    """Return words on NaN and infinity in ``got``: how many, of which kind, and the value wanted at ``at``."""
    bad = got[~torch.isfinite(got)]
    kinds = " and ".join(sorted({f"{x:.6g}" for x in bad.unique().tolist()}))
    wanted = want.flatten()[at]
    other = f"want {wanted:.6g}" if torch.isfinite(wanted) else f"and so is what it is compared with, {wanted:.6g}"
    return f"{place}: got {got.flatten()[at]:.6g}, not finite, as {len(bad)} of {got.numel()} are ({kinds}); {other}"


def identical(got: Tensor, want: Tensor, what: str = "out") -> Measure:
    """Return the measure if both are equal bit for bit (NaN equals NaN); else raise Failure where they differ most."""
    if got.dtype == want.dtype and same_values(got, want):
        return Measure()
    return close(got, want, what, bound=0.0, source="exact")


def holds(condition: bool, message: str, reason: str = "property") -> Measure:
    """Return a measure if the condition is true, else raise Failure with the message."""
    if condition:
        return Measure()
    raise Failure(reason, message)


def within(got: Tensor, low: Tensor, high: Tensor, what: str) -> Measure:
    """Return the measure if low <= got <= high everywhere, up to the semantic gap."""
    slack = SEMANTIC * float(torch.maximum(low.abs(), high.abs()).max())
    outside = torch.maximum(low - got, got - high)
    error = float(outside.max())
    if error <= slack:
        return Measure(max(error, 0.0), slack)
    return close(got, got.clamp(low, high), what, bound=slack, unit=1.0, source=SEMANTIC_SOURCE)
