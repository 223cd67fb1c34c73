"""What the checks of both norms share: asking, and the laws that layer_norm and rms_norm have in common.

Precision, gradients and the oracle are in norm_numbers.py.

The canonical gain is what the normalized features are multiplied by; ``stored`` translates it to what is declared.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import LayerNormConfig, RmsNormConfig
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import divisor, eps_in_code
from attnconf.reference.layer_norm import Divisor, correction

Evidence = Iterator[Measure]
EPS = 1e-5
LARGE = 1e3  # so large that ε of 1e-5 is nothing beside the square
HALF = (torch.bfloat16, torch.float16)

# What is inferred from two quotients of numbers that may be computed in float32.
LOOSE, LOOSE_SOURCE = 1e-5, "1e-5: float32 is enough"


# -- asking


def layered(subject: Subject) -> bool:
    """Return whether the component subtracts the mean: layer_norm does, rms_norm does not."""
    return subject.component == "layer_norm"


def stored(subject: Subject, gain: Tensor) -> Tensor:
    """Return the weight that multiplies by this gain, as declared: itself, or what is added to 1."""
    declared = subject.choice("layer-norm-weight" if layered(subject) else "rms-norm-weight")
    return gain - 1 if declared == "one-plus" else gain


def divisor_of(subject: Subject) -> Divisor:
    """Return what the subject declares to divide by. A mean square is divided by D, as a biased variance is."""
    if not layered(subject):
        return Divisor(eps=subject.choice("rms-norm-eps"))
    return Divisor(subject.choice("layer-norm-variance"), subject.choice("layer-norm-eps"))


def eps_of(subject: Subject, dtype: torch.dtype, eps: float | None = None) -> float:
    """Return the ε of a configuration: what is wanted, or what the subject declares to have in its code."""
    declared = subject.choice("eps")
    return eps_in_code(declared, dtype) if declared != "free" else EPS if eps is None else eps


def shifted(subject: Subject) -> bool:
    """Return whether the component has a shift."""
    return layered(subject) and subject.choice("layer-bias") == "yes"


def call_on(subject: Subject, x: Tensor, gain: Tensor, shift: Tensor | None = None, eps: float | None = None) -> Call:
    """Return the call on x, (…, *shape), with a canonical gain (shape) and a shift, 0 by default.

    Its ε is ``eps``, by default 1e-5, or what the subject has in its code.
    """
    weights, own = {"weight": stored(subject, gain)}, eps_of(subject, x.dtype, eps)
    config: LayerNormConfig | RmsNormConfig = RmsNormConfig(gain.shape[-1], own, subject.choice("rms-norm-eps"))
    if layered(subject):
        config = LayerNormConfig(tuple(gain.shape), own, bias=shifted(subject), **divisor(subject.choice))
    if shifted(subject):
        weights["bias"] = torch.zeros_like(gain) if shift is None else shift
    return Call(subject.component, config, weights, {"x": x}, tuple(x.shape))


def ask(
    subject: Subject, x: Tensor, gain: Tensor, shift: Tensor | None = None, eps: float | None = None, **options: Any
) -> Reply:
    """Return the component's reply to x, (…, *shape), with a canonical gain (shape) and a shift, 0 by default.

    ``eps``: 1e-5 by default. A subject whose ε is in its code is given rows for which that is what ε is for x.
    """
    call = call_on(subject, x, gain, shift, eps)
    factor = scale_for(subject, call, eps)
    if factor == 1.0:
        return subject.call(call.asked(**options))
    reply = subject.call(call.asked(inputs={"x": factor * x}, **options))
    if not subject.gradients:
        return reply
    grads = {name: factor * grad if name == "x" else grad for name, grad in reply.grads.items()}
    return replace(reply, grads=grads)


def scale_for(subject: Subject, call: Call, eps: float | None) -> float:
    """Return what the rows of a call are multiplied by, so that its ε is for them what ``eps`` is for x."""
    return 1.0 if eps is None else as_large_as(subject, call.config.eps / eps)


def as_large_as(subject: Subject, eps: float) -> float:
    """Return the size of the rows beside which ε is neither much nor little: that of its root, or its own."""
    return math.sqrt(eps) if divisor_of(subject).eps == "inside" else eps


def large_eps(subject: Subject, x: Tensor, gain: Tensor, shift: Tensor) -> Call:
    """Return the call on x where ε is 1, or on rows as small as the subject's ε: a path without ε shows."""
    call = call_on(subject, x, gain, shift, 1.0)
    return call.with_inputs(x=scale_for(subject, call, 1.0) * x)


def plain_call(subject: Subject, x: Tensor) -> Call:
    """Return the call on x with gain 1 and shift 0, normalized over the last axis."""
    return call_on(subject, x, x.new_ones(x.shape[-1:]))


def bare(subject: Subject, x: Tensor, eps: float | None = None, axes: int = 1, **options: Any) -> Reply:
    """Return the reply with gain 1 and shift 0, normalized over the last ``axes``."""
    return ask(subject, x, x.new_ones(x.shape[x.ndim - axes :]), None, eps, **options)


def tokens(case: Case, what: str = "x") -> Tensor:
    """Return tokens (B, L, E), each with a mean and a variance of its own, neither small beside the other."""
    return spread_out(case, what, case.B, case.L, case.features)


def spread_out(case: Case, what: str, *shape: int) -> Tensor:
    """Return tokens of this shape whose means lie in ±1 and whose standard deviations lie in 0.5 … 1.5."""

    def compute() -> Tensor:
        x = case.draw(what, *shape).double()
        mean, size = (case.draw(f"{what} {of}", *shape[:-1], 1).double() / 3**0.5 for of in ("mean", "size"))
        if shape[-1] > 1:
            x = (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, unbiased=False, keepdim=True)
        return ((1 + size / 2) * x + mean).to(case.dtype)

    return case.once(f"{what} {shape}", compute)


def gain_of(case: Case, *shape: int) -> Tensor:
    """Return a gain of odd multiples of 1/16, of both signs: it and itself less 1 are exact in every dtype."""
    return ((case.draw("gain", *(shape or (case.features,))).double() * 8).round() / 8 + 1 / 16).to(case.dtype)


def shift_of(subject: Subject, case: Case, *shape: int) -> Tensor:
    """Return a shift, of zeros where there is none."""
    drawn = case.draw("shift", *(shape or (case.features,)))
    return drawn if shifted(subject) else torch.zeros_like(drawn)


def parts(subject: Subject, x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return what is divided and by what, in float64 from the values of x."""
    x = x.double()
    x, how = x - x.mean(dim=-1, keepdim=True) if layered(subject) else x, divisor_of(subject)
    square = x.square().mean(dim=-1, keepdim=True) * correction(x, (-1,), how)
    return x, (square + eps).sqrt() if how.eps == "inside" else square.sqrt() + eps


def formula(subject: Subject, x: Tensor, eps: float | None = None) -> Tensor:
    """Return x̂ in float64 from the values of x."""
    centred, divisor = parts(subject, x, eps_of(subject, x.dtype) if eps is None else eps)
    return centred / divisor


def standard(subject: Subject, x: Tensor) -> Tensor:
    """Return rows of mean square 1 that point where x̂ does, whatever is declared of its size."""
    centred = parts(subject, x, 0.0)[0]
    return centred / centred.square().mean(dim=-1, keepdim=True).sqrt()


# -- the call


def takes_any_leading_axes(subject: Subject, case: Case) -> Evidence:
    x = spread_out(case, "x", case.B, case.groups, case.L, case.features)
    want = bare(subject, x.flatten(0, 1)).out
    yield close(
        bare(subject, x).out, want.unflatten(0, x.shape[:2]), "out of (B, H, L, E), against that of (B·H, L, E),"
    )
    yield close(bare(subject, x[0, 0]).out, want[0], "out of (L, E), against that of (B·H, L, E),")
    yield close(bare(subject, x[0, 0, 0]).out, want[0, 0], "out of (E,), against that of (B·H, L, E),")


def refuses(subject: Subject, what: str, x: Tensor, gain: Tensor) -> Measure:
    """Return a measure if the subject raises an exception."""
    try:
        ask(subject, x, gain)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


def refuses_other_widths(subject: Subject, case: Case) -> Evidence:
    for width in (case.features + 2, case.features - 1):
        x = case.draw("other", case.B, case.L, width)
        yield refuses(subject, f"{width} features for {case.features}", x, gain_of(case))


def refuses_what_would_broadcast(subject: Subject, case: Case) -> Evidence:
    x = case.draw("other", case.B, case.L, 1)
    yield refuses(subject, f"1 feature for {case.features}", x, gain_of(case))
    yield refuses(subject, f"{case.features} features for 1", tokens(case), gain_of(case, 1))


# -- the law


def keeps_tokens_apart(subject: Subject, case: Case) -> Evidence:
    """Every other token is replaced, the rest stays."""
    x, other = tokens(case), 3 * tokens(case, "other") - 2
    stays = (torch.arange(case.B * case.L, device=case.device) % 2 == 0).reshape(case.B, case.L)
    want = bare(subject, x).out[stays]
    got = bare(subject, torch.where(stays[..., None], x, other)).out[stays]
    yield close(got, want, "out of tokens among others, against what they were,")
    alone = bare(subject, x[:1, :1]).out[0, 0]
    yield close(want[0], alone, "out of the first token, against that of it alone,")


def ignores_large_scales(subject: Subject, case: Case) -> Evidence:
    x = LARGE * tokens(case)
    want = bare(subject, x).out
    for factor in (8.0, 1000.0, -1.0):
        sign = 1.0 if factor > 0 else -1.0
        yield close(sign * bare(subject, factor * x).out, want, f"out of {factor:g}·x, against that of x,")


def with_a_zero(case: Case) -> Iterator[Tensor]:
    """Yield tokens of which one feature is exactly 0, where there are enough others."""
    if case.features > 2:
        yield torch.where(torch.arange(case.features, device=case.device) == 1, 0.0, tokens(case))


def stays_in_line(subject: Subject, case: Case) -> Evidence:
    """What is left of the output when its part along x is taken away; the mean of both is set aside in layer_norm."""
    for x in (LARGE * tokens(case), tokens(case), *with_a_zero(case)):
        along, out = standard(subject, x), bare(subject, x).out.double()
        rest = out - out.mean(dim=-1, keepdim=True) if layered(subject) else out
        factor = (rest * along).mean(dim=-1, keepdim=True)
        yield holds(bool((factor > 0).all()), "out does not point where x does")
        yield close(rest, factor * along, "out, against its part along x,")


def inferred(subject: Subject, case: Case, size: float, eps: float) -> Tensor:
    """Return ε as it shows: rows u of mean square 1, times ``size``, come out as g·u with g = size/√(size² + ε).

    Where it is declared to stand outside the root, g = size/(size + ε); an unbiased variance is larger than size².
    """
    u, how = standard(subject, tokens(case)), divisor_of(subject)
    g = (bare(subject, (size * u).to(case.dtype), eps).out * u).mean(dim=-1)
    more = correction(u, (-1,), how)
    return size**2 * (1 / g.square() - more) if how.eps == "inside" else size * (1 / g - math.sqrt(more))


def has_eps_in_its_place(subject: Subject, case: Case) -> Evidence:
    want = inferred(subject, case, 1.0, 1.0)
    for size in (0.25, 0.5, 2.0):
        what = f"ε as rows of size {size:g} show it, against rows of size 1,"
        yield close(inferred(subject, case, size, 1.0), want, what, bound=LOOSE, source=LOOSE_SOURCE, unit=1.0)


def obeys_eps(subject: Subject, case: Case) -> Evidence:
    for eps in (1.0, 1e-5, 1e-12):
        got = inferred(subject, case, as_large_as(subject, eps), eps) / eps
        what = f"ε as it shows, in units of config.eps = {eps:g},"
        yield close(got, torch.ones_like(got), what, bound=LOOSE, source=LOOSE_SOURCE)


def takes_a_wide_row_whole(subject: Subject, case: Case) -> Evidence:
    """A row that grows from end to end, in another order: where it is cut or folded, other features come together."""
    x = tokens(case) * torch.linspace(0.1, 2, case.features, dtype=case.dtype, device=case.device)
    order = case.permutation("order", case.features)
    got, want = bare(subject, x[..., order]).out, bare(subject, x).out[..., order]
    what = "out of features in another order, against out in that order,"
    yield close(got, want, what, bound=LOOSE, source=LOOSE_SOURCE)


def multiplies_by_the_gain(subject: Subject, case: Case) -> Evidence:
    x = LARGE * tokens(case)
    want = gain_of(case) * bare(subject, x).out
    yield close(ask(subject, x, gain_of(case)).out, want, "out with a gain, against the gain times out without,")
