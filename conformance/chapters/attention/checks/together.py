"""Checks of the chapter spec/attention.md: everything at once, and how precisely."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, two_orders, worst, written_out
from attnconf.conformance.engine.evidence import (
    SEMANTIC,
    Measure,
    close,
    holds,
)
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.attention import attend

Evidence = Iterator[Measure]
ANGLE = 1.2e-7  # radians by which an angle of float32 is off for each token: spec/rotary.md, ROPE-LONG-1


def oracle(
    case: Case, cotangent: Tensor, mask: Tensor | None = None, bias: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the formula's output, and its gradients with respect to q, k and v."""
    leaves = {name: getattr(case, name).clone().requires_grad_() for name in "qkv"}
    want, _ = attend(**leaves, mask=mask, bias=bias)
    grads = dict(zip(leaves, slopes([(want, cotangent)], list(leaves.values())), strict=True))
    return want.detach(), grads


@requirement("ATT-ORACLE-1", stimuli.DISTINCT, stimuli.FUSED, stimuli.EDGES, stimuli.LONG)
def outputs_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    reply = subject.attend(case.q, case.k, case.v, cotangent=cotangent)
    want, grads = case.once("oracle", lambda: oracle(case, cotangent))
    bound = of_angles(subject, case)
    yield close(reply.out, want, **bound)
    for name, grad in grads.items():
        unit = max(float(grad.abs().max()), float(cotangent.abs().max()))  # one key: the gradient of q is 0
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit, **bound)


def of_angles(subject: Subject, case: Case, scores: float = 1.0) -> dict[str, Any]:
    """Return the bound of numbers behind a rotation, whose angles may be those of float32; none without one.

    ``scores``: how large they are. A score is off by that much for each radian.
    """
    if subject.choice("positions-inside") != "rotary":
        return {}
    last = max(case.L, case.S) - 1
    source = f"1e-6·max|want|, and angles of float32 up to {last} (ROPE-LONG-1)"
    source += f" in scores of {scores:g}" if scores > 1 else ""
    return {"bound": SEMANTIC + ANGLE * last * scores, "source": source}


@requirement("ATT-PREC-2", stimuli.DISTINCT)
def float64_is_computed_in_float64(subject: Subject, case: Case) -> Evidence:
    want, _ = attend(case.q, case.k, case.v)
    out = subject.attend(case.q, case.k, case.v).out
    yield close(out, want, bound=1e-10, source="1e-10·max|want|: 450 000 roundings of float64")


Wanted = dict[str, tuple[Tensor, tuple[float, float]]]  # "out", "q", "k", "v": what is wanted, and a textbook's errors


def rounded_oracle(case: Case) -> Wanted:
    """Return the formula's output and gradients in float64, and the errors of textbooks, all on rounded inputs.

    The textbooks compute in the dtype of the inputs: in two orders, and for gradients with the softmax written out.
    """
    leaves = [x.clone().requires_grad_() for x in (case.q, case.k, case.v)]
    double = [x.detach().double().requires_grad_() for x in leaves]
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    q, k, v = double
    out, _ = attend(q, k, v)
    want = dict(zip(("out", *"qkv"), (out.detach(), *slopes([(out, cotangent.double())], double)), strict=True))
    orders = two_orders(*leaves)
    errors = {"out": [got.detach().double() - want["out"] for got in orders]}
    for got in (*orders, written_out(*leaves)):
        for name, grad in zip("qkv", slopes([(got, cotangent)], leaves), strict=True):
            errors.setdefault(name, []).append(grad.double() - want[name])
    return {name: (want[name], worst(errors[name])) for name in want}


@requirement("ATT-HALF-1", stimuli.DISTINCT, stimuli.FUSED)
def half_precision_keeps_to_the_error_budget(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        yield from keeps_to_the_budget(subject, case.but(dtype=dtype), "out")


@requirement("ATT-HALF-2", stimuli.DISTINCT, stimuli.FUSED)
def gradients_in_half_precision_keep_to_the_error_budget(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        yield from keeps_to_the_budget(subject, case.but(dtype=dtype), "q", "k", "v")


@requirement("ATT-FLOAT-1", stimuli.DISTINCT, stimuli.FUSED, stimuli.REAL)
def single_precision_keeps_to_the_error_budget(subject: Subject, case: Case) -> Evidence:
    yield from keeps_to_the_budget(subject, case.but(dtype=torch.float32), "out", "q", "k", "v")


def keeps_to_the_budget(subject: Subject, case: Case, *names: str) -> Evidence:
    wanted = case.once("rounded oracle", partial(rounded_oracle, case))
    cotangent = None if names == ("out",) else case.draw("cotangent", case.B, case.H, case.L, case.F)
    reply = subject.attend(case.q, case.k, case.v, cotangent=cotangent)
    for name in names:
        got, what = (reply.out, "") if name == "out" else (reply.grads[name], f"gradient of {name}")
        want, baseline = wanted[name]
        steps = 4 if what else 0  # backward through a product, the softmax, the scale and a product
        yield error_budget(got, want, baseline, case.dtype, steps, what=what)


@requirement("ATT-NAN-1", stimuli.SMALL)
def what_is_not_a_number_comes_out(subject: Subject, case: Case) -> Evidence:
    x: dict[str, Any] = {"q": case.q, "k": case.k, "v": case.v}
    for name, what in (("q", "a query"), ("k", "a key"), ("v", "a value")):
        spoilt = x[name].clone()
        spoilt[0, :, 1, 0] = float("nan")
        out = subject.attend(**{**x, name: spoilt}).out[0]
        reached = {"q": out[:, 1], "k": out, "v": out[..., 0]}[name]
        message = f"NaN in {what} is lost: {int((~reached.isnan()).sum())} of {reached.numel()} numbers are made of it"
        yield holds(
            bool(reached.isnan().all()), f"{message}, and none of them is NaN" if not reached.isnan().any() else message
        )


@requirement("ATT-RANGE-1", stimuli.SMALL)
def half_precision_does_not_overflow_in_the_product(subject: Subject, case: Case) -> Evidence:
    """|q| = |k| = 300 makes q·k 90000, beyond float16's 65504, while the scaled score is within it."""
    c = case.but(dtype=torch.float16)
    k = 300 * torch.eye(c.S, c.E, dtype=torch.float16, device=c.device).expand(c.B, c.H, -1, -1)
    wanted = torch.arange(c.L) % c.S
    out = subject.attend(k[:, :, wanted], k, c.v).out
    yield close(out, c.v[:, :, wanted], "out where q·k = 90000 for the best key, against its value,", bound=2e-3,
                source="float16: two roundings of the value")  # fmt: skip
