"""Half precision: how large an error may be, from the errors of two textbook orders of evaluation.

The criterion: E_inf <= m·B_inf + f·eps·A and E_rms <= m'·B_rms + f/2·eps·rms(want), with E the error against the
float64 oracle on the same rounded inputs, B the larger error of the two orders in the same dtype, A = max|want|.
It failed none of five right implementations on 96 cases in each half dtype; what it misses is in spec/limits.md.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure, Measure

# m, m', f for outputs
_FACTORS = {torch.bfloat16: (2.0, 1.5, 2.0), torch.float16: (2.5, 1.7, 2.0), torch.float32: (3.0, 2.0, 4.0)}


def two_orders(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return attention with the scale before the product, and after it, all in the inputs' dtype."""
    scale = 1 / math.sqrt(q.shape[-1])
    before, after = (q * scale) @ k.transpose(-1, -2), (q @ k.transpose(-1, -2)) * scale
    return torch.softmax(before, dim=-1) @ v, torch.softmax(after, dim=-1) @ v


def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return attention with a softmax that is written out, so that its gradients are rounded at every step."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return (powers / powers.sum(dim=-1, keepdim=True)) @ v


def worst(errors: Sequence[Tensor]) -> tuple[float, float]:
    """Return (B_inf, B_rms) of several errors."""
    return max(float(e.abs().max()) for e in errors), max(_rms(e) for e in errors)


def _rms(x: Tensor) -> float:
    return float(x.square().mean().sqrt())


def error_budget(
    got: Tensor, want: Tensor, baseline: tuple[float, float], dtype: torch.dtype, steps: int = 0, what: str = ""
) -> Measure:
    """Return the measure if the error keeps to the budget, else raise Failure.

    For layers m and m' grow by a quarter with each sublayer, as errors pass through all later ones; for a gradient by
    a quarter with each step back.
    """
    m_inf, m_rms, f = _FACTORS[dtype]
    m_inf, m_rms = m_inf * (1 + steps / 4), m_rms * (1 + steps / 4)
    eps = torch.finfo(dtype).eps
    error = got.double() - want
    e_inf, e_rms = float(error.abs().max()), _rms(error)
    limit = m_inf * baseline[0] + f * eps * float(want.abs().max())
    limit_rms = m_rms * baseline[1] + f / 2 * eps * _rms(want)
    if e_inf <= limit and e_rms <= limit_rms:
        return Measure(e_inf, limit)
    name = str(dtype).removeprefix("torch.")
    name_of = f"{what} in {name}" if what else f"in {name}"
    message = f"{name_of}: max error {e_inf:.3g} (bound {limit:.3g}), rms error {e_rms:.3g} (bound {limit_rms:.3g})"
    reason = "value" if math.isfinite(e_inf) else "nonfinite"
    source = f"{m_inf:g}·(error of the textbook in {name}) + {f:g}·eps·max|want|"
    source = f"through {steps} {'steps back' if what else 'sublayers'}: {source}" if steps else source
    raise Failure(reason, message, error=e_inf, bound=limit, source=source)
