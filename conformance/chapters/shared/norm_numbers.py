"""What the checks of both norms share where numbers are concerned: precision, gradients, and the oracle."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.norms import (
    EPS,
    HALF,
    LARGE,
    LOOSE,
    LOOSE_SOURCE,
    Evidence,
    ask,
    bare,
    divisor_of,
    eps_of,
    formula,
    gain_of,
    layered,
    parts,
    shift_of,
    shifted,
    standard,
    tokens,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import DIFFERENCES, DIFFERENCES_SOURCE, Measure, close, holds
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes

# Some ten roundings of numbers no larger than the output, each by half a unit at most, and a sum of many terms.
SINGLE, SINGLE_SOURCE = 8.0, "float32 in a norm: 8·eps·max(|γ·x̂| + |β|)"
# Eager code in the dtype itself rounds every step, some ten by half a unit; an overflow is off by everything.
GROSS, GROSS_SOURCE = 16.0, "half precision of a norm: 16·eps·max(|γ·x̂| + |β|)"
# Rounded to the dtype once or three times (x̂, the product, the sum), by half a unit each, with a quarter to spare.
FINE, FINE_SOURCE = 2.0, "half precision after a norm in float32: 2·eps·max(|γ·x̂| + |β|)"
DOUBLE, DOUBLE_SOURCE = 1e-11, "1e-11: float64 in a norm"


# -- numbers


def measured(subject: Subject, case: Case, x: Tensor, factor: float, source: str, slack: float = 0.0) -> Measure:
    """Return the measure of out against float64 on the same values, in units of the dtype."""
    gain, shift = gain_of(case), shift_of(subject, case)
    scaled = gain.double() * formula(subject, x)
    want = scaled + shift.double() if layered(subject) else scaled
    unit = float(scaled.abs().max()) + (float(shift.double().abs().max()) if layered(subject) else 0.0)
    got = ask(subject, x, gain, shift).out
    bound = factor * torch.finfo(case.dtype).eps + slack
    name = str(case.dtype).removeprefix("torch.")
    return close(got, want, f"out in {name}, against the formula,", bound=bound, unit=unit, source=source)


def is_right_in_float32(subject: Subject, case: Case) -> Evidence:
    case = case.but(dtype=torch.float32)
    yield measured(subject, case, tokens(case), SINGLE, SINGLE_SOURCE)


def is_right_in_float64(subject: Subject, case: Case) -> Evidence:
    x = standard(subject, tokens(case)) + 8
    gain, shift = gain_of(case), shift_of(subject, case)
    want = gain * formula(subject, x) + (shift if layered(subject) else 0)
    got = ask(subject, x, gain, shift).out
    yield close(got, want, "out, against the formula,", bound=DOUBLE, source=DOUBLE_SOURCE)


def is_right_in_half_precision(subject: Subject, case: Case, *sizes: float) -> Evidence:
    for dtype in HALF:
        c = case.but(dtype=dtype)
        for size in sizes:
            yield measured(subject, c, (size * tokens(case)).to(dtype), GROSS, GROSS_SOURCE)


def is_rounded_after_the_norm(subject: Subject, case: Case) -> Evidence:
    """On rows around 0, and around a mean that takes most of the dtype's digits."""
    for dtype in HALF:
        c = case.but(dtype=dtype)
        mean = 1.5 / torch.finfo(dtype).eps
        for x in (tokens(case), standard(subject, tokens(case)) + mean):
            yield measured(subject, c, x.to(dtype), FINE, FINE_SOURCE, 1e-6)


# -- gradients


def weight_gradient_sums_over_tokens(subject: Subject, case: Case) -> Evidence:
    x, cotangent = LARGE * tokens(case), case.draw("cotangent", case.B, case.L, case.features)
    got = ask(subject, x, gain_of(case), cotangent=cotangent, wrt=("weight",)).grads["weight"]
    want = (cotangent * bare(subject, x).out).flatten(0, 1).sum(dim=0)
    yield close(got, want, "gradient of the weight, against the sum of (gradient of out)·x̂,")


def steepness(subject: Subject, case: Case, x: Tensor, eps: float | None = None) -> float:
    """Return the largest of the terms γ·cotangent/√(σ² + ε) that make up the gradient of x and may cancel."""
    eps = eps_of(subject, x.dtype) if eps is None else eps
    terms = gain_of(case) * case.draw("cotangent", *x.shape) / parts(subject, x, eps)[1]
    return float(terms.abs().max())


def slope(subject: Subject, case: Case, x: Tensor, eps: float | None = None) -> Tensor:
    """Return the gradient with respect to x."""
    cotangent = case.draw("cotangent", *x.shape)
    return ask(subject, x, gain_of(case), None, eps, cotangent=cotangent, wrt=("x",)).grads["x"]


def nothing_along_the_normalized(subject: Subject, case: Case) -> Evidence:
    x = 1000 * LARGE * tokens(case)
    along = (slope(subject, case, x) * standard(subject, x)).mean(dim=-1)
    what = "part of the gradient of x along the normalized x"
    yield close(along, torch.zeros_like(along), what, unit=steepness(subject, case, x))


def is_finite(subject: Subject, case: Case, x: Tensor) -> Measure:
    grad = slope(subject, case, x)
    return holds(bool(torch.isfinite(grad).all()), "the gradient of x has entries that are not finite", "nonfinite")


def agrees_with_differences(subject: Subject, case: Case) -> Evidence:
    """Each feature of all tokens at once, as tokens are apart; steps side by side along the batch."""
    x, cotangent, h = 3 * tokens(case), case.draw("cotangent", case.B, case.L, case.features), 1e-2
    steps = h * torch.tensor([-2.0, -1.0, 1.0, 2.0], dtype=x.dtype, device=x.device)
    moved = (
        x + steps[:, None, None, None, None] * torch.eye(case.features, dtype=x.dtype, device=x.device)[:, None, None]
    )
    out = ask(subject, moved.flatten(0, 2), gain_of(case), None, 1.0).out.unflatten(0, moved.shape[:3])
    loss = (out * cotangent).sum(dim=-1)  # (steps, features, B, L)
    want = (8 * (loss[2] - loss[1]) - (loss[3] - loss[0])) / (12 * h)
    got, want = slope(subject, case, x, 1.0), want.movedim(0, -1)
    yield close(got, want, "gradient of x, against differences,", bound=DIFFERENCES, source=DIFFERENCES_SOURCE)


Oracle = Callable[[Tensor, Tensor, Tensor, float], Tensor]  # x, gain, shift, ε


def equals(subject: Subject, case: Case, reference: Oracle, names: tuple[str, ...]) -> Evidence:
    """Output and gradients against the reference, at two ε: one that is not nothing, and one that next to is."""
    for eps in (1.0, EPS):
        yield from equals_at(eps, subject, case, reference, names)


def equals_at(eps: float, subject: Subject, case: Case, reference: Oracle, names: tuple[str, ...]) -> Evidence:
    x, gain, shift = tokens(case), gain_of(case), shift_of(subject, case)
    cotangent = case.draw("cotangent", *x.shape)
    names = tuple(name for name in names if name != "bias" or shifted(subject))
    key = f"eps {eps}, shifted {shifted(subject)}, {divisor_of(subject)}"
    want, wanted = case.once(key, lambda: solved(reference, x, gain, shift, eps, cotangent))
    reply = ask(subject, x, gain, shift, eps, cotangent=cotangent, wrt=names)
    yield close(reply.out, want, f"out with eps {eps:g}, against the reference,")
    # not less than the terms that cancel: one feature has a gradient of 0, two have next to none
    summed = (cotangent * x / parts(subject, x, eps)[1]).abs().sum(dim=(0, 1))
    terms = {"x": steepness(subject, case, x, eps), "weight": float(summed.max()), "bias": 0.0}
    for name in names:
        unit = max(terms[name], float(wanted[name].abs().max()))
        what = f"gradient of {name} with eps {eps:g}, against the reference's,"
        yield close(reply.grads[name], wanted[name], what, bound=LOOSE, source=LOOSE_SOURCE, unit=unit)


def solved(
    reference: Oracle, x: Tensor, gain: Tensor, shift: Tensor, eps: float, cotangent: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the reference's output and gradients."""
    x, gain, shift = leaves = [t.detach().clone().requires_grad_() for t in (x, gain, shift)]
    out = reference(x, gain, shift, eps)
    return out.detach(), dict(zip(("x", "weight", "bias"), slopes([(out, cotangent)], leaves), strict=True))
