"""Checks of the chapter spec/attention.md: returned weights, gradients, dropout, and what is refused."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import (
    Failure,
    Measure,
    Unsupported,
    close,
    holds,
)
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


# -- what else comes back


@requirement("ATT-WEIGHTS-1", stimuli.DISTINCT)
def the_returned_weights_make_the_output(subject: Subject, case: Case) -> Evidence:
    reply = subject.attend(case.q, case.k, case.v, need_weights=True)
    assert reply.weights is not None
    if reply.weights.ndim == 3:
        raise Unsupported("weights per head (declares returned-weights: averaged)")
    yield close(reply.weights.double() @ case.v, reply.out, "the returned weights times V, against out")


@requirement("ATT-WEIGHTS-2", stimuli.DISTINCT, any_weights=True)
def asking_for_weights_does_not_change_the_output(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    for mode in ("plain", "no_grad"):
        out = subject.attend(case.q, case.k, case.v, need_weights=True, mode=mode).out
        yield close(out, want, f"out with need_weights in mode {mode}")


@requirement("ATT-GRAD-1", stimuli.ONE, stimuli.SMALL)
def gradients_are_the_slopes_of_the_output(subject: Subject, case: Case) -> Evidence:
    x: dict[str, Any] = {"q": case.q, "k": case.k, "v": case.v}
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    grads = subject.attend(**x, cotangent=cotangent).grads
    for name in x:
        step = case.draw(f"direction-{name}", *x[name].shape)

        def along(t: float, name: str = name, step: Tensor = step) -> Tensor:
            return (subject.attend(**{**x, name: x[name] + t * step}).out * cotangent).sum()

        slope = (8 * (along(0.01) - along(-0.01)) - (along(0.02) - along(-0.02))) / 0.12
        unit = float(grads[name].norm() * step.norm()) / math.sqrt(step.numel())
        yield close(
            (grads[name] * step).sum(), slope, f"the derivative along a direction of {name}, against differences,",
            bound=evidence.DIFFERENCES, source=evidence.DIFFERENCES_SOURCE, unit=max(unit, float(slope.abs())),
        )  # fmt: skip


# -- dropout

P = 0.25  # not 1/2, which would hide p and 1 - p mixed up


def dropped(subject: Subject, case: Case) -> tuple[Tensor, Tensor]:
    """Return some keys' weights in evaluation, and as training leaves them, each twice: (B, H, L, 2, keys)."""
    S = case.E // 2
    v = torch.zeros(case.S, case.E, dtype=case.dtype, device=case.device)
    v[:S, :S] = v[:S, S : 2 * S] = torch.eye(S)
    v = v.expand(case.B, case.H, -1, -1)
    train = subject.attend(case.q, case.k, v, dropout=P, training=True, seed=1).out[..., : 2 * S]
    evaluated = subject.attend(case.q, case.k, v).out[..., : 2 * S]
    return evaluated.unflatten(-1, (2, S)), train.unflatten(-1, (2, S))


@requirement("ATT-DROP-1", stimuli.ONE, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    yield close(subject.attend(case.q, case.k, case.v, dropout=P, seed=1).out, want, "out in evaluation with dropout")


@requirement("ATT-DROP-2", stimuli.MANY_ROWS)
def training_drops_weights_at_the_given_rate(subject: Subject, case: Case) -> Evidence:
    _, train = dropped(subject, case)
    gone = train == 0
    yield holds(
        bool((gone[..., 0, :] == gone[..., 1, :]).all()), "what is dropped are elements of the output, not weights"
    )
    drawn = gone[..., 0, :].flatten(0, 1).unique(dim=0)  # samples and heads may share theirs
    rate, n = float(drawn.double().mean()), drawn.numel()
    slack = 5 * math.sqrt(P * (1 - P) / n)
    message = f"{100 * rate:.1f} % of {n} weights are dropped, want {100 * P:.0f} % ± {100 * slack:.1f} %"
    yield holds(abs(rate - P) <= slack, message)
    rows = gone[..., 0, :].flatten(0, 2).double()
    yield holds(bool(rows.std(dim=0).min() > 0), "the same keys are dropped for every query")


@requirement("ATT-DROP-3", stimuli.MANY_ROWS)
def what_is_kept_is_rescaled(subject: Subject, case: Case) -> Evidence:
    evaluated, train = dropped(subject, case)
    want = torch.where(train == 0, 0.0, evaluated / (1 - P))
    yield close(train, want, "a kept weight, against the weight in evaluation divided by 1 - p,")


# -- what must be refused, and what is at the edge


@requirement("ATT-ERROR-1", stimuli.SMALL, stimuli.FUSED)
def sizes_that_do_not_fit_are_refused(subject: Subject, case: Case) -> Evidence:
    q, k, v = case.q, case.k, case.v
    wider = torch.cat([q, q], dim=-1)
    more = torch.cat([q, q[:1], q[:1]]), torch.cat([k, k[:1]]), torch.cat([v, v[:1]])  # 1 sample would broadcast
    for what, a, b, c in (
        ("one value less than keys", q, k, v[:, :, :-1]),
        ("queries twice as wide as keys", wider, k, v),
        ("one sample more in the queries", *more),
    ):
        yield refuses(subject, what, a, b, c)


@requirement("ATT-ERROR-2", stimuli.SMALL)
def an_axis_of_one_is_not_stretched(subject: Subject, case: Case) -> Evidence:
    yield refuses(subject, "a single value for several keys", case.q, case.k, case.v[:, :, :1])


def refuses(subject: Subject, what: str, q: Tensor, k: Tensor, v: Tensor) -> Measure:
    """Return a measure if the subject raises an exception on these inputs."""
    try:
        subject.attend(q, k, v)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")
