"""Checks of the chapter spec/attention.md: the scores, their scale, and what reads weights off outputs."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import (
    SINGLE,
    SINGLE_SOURCE,
    Measure,
    close,
    holds,
)
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]


@requirement("ATT-SHIFT-1", stimuli.ONE, stimuli.SMALL)
def adding_one_vector_to_all_keys_changes_nothing(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    for size in (0.7, -0.7):
        shift = size * case.draw("shift", case.B, case.H, 1, case.E)
        yield close(subject.attend(case.q, case.k + shift, case.v).out, want, "out with one vector added to all keys")


def read_weights(subject: Subject, q: Tensor, k: Tensor, **options: object) -> Tensor:
    """Return the weights (B, H, L, S), read off the output by making V the identity: needs S <= width of a value."""
    S = k.shape[2]
    F = S if subject.offers("value-width") else k.shape[3]
    v = torch.eye(S, F, dtype=q.dtype, device=q.device).expand(*k.shape[:2], S, F)
    return subject.attend(q, k, v, **options).out[..., :S]  # type: ignore[arg-type]


def log_odds(weights: Tensor) -> Tensor:
    """Return log(a_j / a_0) of every row: (B, H, L, S - 1)."""
    return torch.log(weights[..., 1:] / weights[..., :1])


def products(q: Tensor, k: Tensor) -> Tensor:
    """Return q · (k_j - k_0): (B, H, L, S - 1)."""
    return torch.einsum("...le,...se->...ls", q, k[:, :, 1:] - k[:, :, :1])


def measured_scale(subject: Subject, q: Tensor, k: Tensor, **options: object) -> Tensor:
    """Return the factor that best turns q · (k_j - k_0) into the subject's log odds."""
    x = products(q, k)
    return (log_odds(read_weights(subject, q, k, **options)) * x).sum() / (x * x).sum()


@requirement("ATT-SCORE-1", stimuli.READABLE)
def log_odds_are_proportional_to_the_dot_product(subject: Subject, case: Case) -> Evidence:
    got = log_odds(read_weights(subject, case.q, case.k))
    x = products(case.q, case.k)
    factor = (got * x).sum() / (x * x).sum()
    yield holds(bool(factor > 0), f"a larger q·k gets {'a smaller' if factor < 0 else 'no larger'} weight")
    yield close(got, factor * x, f"log(a_j/a_0), against {float(factor):.6g} · q·(k_j - k_0),")


@requirement("ATT-WIDE-1", stimuli.WIDE)
def the_order_of_the_features_does_not_matter(subject: Subject, case: Case) -> Evidence:
    of_keys, of_values = case.permutation("features", case.E), case.permutation("features of values", case.F)
    want = subject.attend(case.q, case.k, case.v).out
    got = subject.attend(case.q[..., of_keys], case.k[..., of_keys], case.v).out
    bound: dict[str, Any] = {"bound": SINGLE, "source": SINGLE_SOURCE}
    yield close(got, want, "out with the features of queries and keys permuted together", **bound)
    got = subject.attend(case.q, case.k, case.v[..., of_values]).out
    yield close(got, want[..., of_values], "out with the features of values permuted", **bound)


@requirement("ATT-RETR-1", stimuli.SMALL)
def the_key_that_fits_best_wins(subject: Subject, case: Case) -> Evidence:
    """Keys are unit vectors, the query is 60·√E times one of them: every other key is e^60 times lighter."""
    k = torch.eye(case.S, case.E, dtype=case.dtype, device=case.device).expand(case.B, case.H, -1, -1)
    wanted = torch.arange(case.L) % case.S
    out = subject.attend(60 * math.sqrt(case.E) * k[:, :, wanted], k, case.v).out
    yield close(out, case.v[:, :, wanted], "out of a query 60·√E·k_j, against v_j,")


@requirement("ATT-STABLE-1", stimuli.SMALL)
def scores_of_a_hundred_overflow_nothing(subject: Subject, case: Case) -> Evidence:
    single = case.but(dtype=torch.float32)
    yield from overflows_nothing(subject, single, 100.0, {"bound": SINGLE, "source": SINGLE_SOURCE})


@requirement("ATT-STABLE-2", stimuli.SMALL)
def large_scores_overflow_nothing(subject: Subject, case: Case) -> Evidence:
    yield from overflows_nothing(subject, case, 1e4, {})


def overflows_nothing(subject: Subject, case: Case, size: float, bound: dict[str, Any]) -> Evidence:
    k = torch.eye(case.S, case.E, dtype=case.dtype, device=case.device).expand(case.B, case.H, -1, -1)
    wanted = torch.arange(case.L) % case.S
    q = size * math.sqrt(case.E) * k[:, :, wanted]
    out = subject.attend(q, k, case.v).out
    what = f"out where scores reach {size:g}, against the value of the best key,"
    yield close(out, case.v[:, :, wanted], what, **bound)
    usual = case.q[:, :, :1] - 2 * math.sqrt(case.E)  # scores about -2
    alone = subject.attend(usual, k, case.v).out
    out = subject.attend(torch.cat([usual, q[:, :, 1:]], dim=2), k, case.v).out[:, :, :1]
    yield close(
        out, alone, f"out of a usual query beside others whose scores reach {size:g}, against it alone,", **bound
    )
    ones, unit = torch.ones_like(case.q), float(case.v.abs().max())
    out = subject.attend(-size / math.sqrt(case.E) * ones, torch.ones_like(case.k), case.v).out
    mean = case.v.double().mean(dim=2, keepdim=True).expand_as(out)
    yield close(out, mean, f"out where all scores are -{size:g}, against the mean,", unit=unit, **bound)


@requirement("ATT-SCALE-1", stimuli.READABLE, stimuli.SMALL)
def the_default_scale_is_one_over_root_e(subject: Subject, case: Case) -> Evidence:
    q, k = case.q, case.k[:, :, :3]  # L is not S: a mask that is added where they are equal is not a wrong scale
    got, want = measured_scale(subject, q, k), torch.tensor(case.E**-0.5)
    name = {1 / case.E: "1/E", 1.0: "1", math.sqrt(case.E): "√E", (case.H * case.E) ** -0.5: "1/√(H·E)"}
    known = next((f", which is {text}" for value, text in name.items() if abs(float(got) / value - 1) < 1e-6), "")
    yield close(got, want, f"the scale with E = {case.E}{known}")


@requirement("ATT-SCALE-2", stimuli.READABLE)
def a_given_scale_multiplies_the_scores(subject: Subject, case: Case) -> Evidence:
    once = measured_scale(subject, case.q, case.k, scale=0.3)
    for scale in (0.45, 0.15, -0.3):
        got = measured_scale(subject, case.q, case.k, scale=scale)
        yield close(got, once * scale / 0.3, f"the scale measured for scale={scale}, from that for 0.3")
    got = measured_scale(subject, case.q, case.k, scale=0.0)
    yield close(got, torch.zeros_like(got), "the scale measured for scale=0.0", unit=abs(float(once)))


@requirement("ATT-SCALE-3", stimuli.READABLE)
def a_given_scale_replaces_the_default(subject: Subject, case: Case) -> Evidence:
    default = measured_scale(subject, case.q, case.k)
    given = measured_scale(subject, case.q, case.k, scale=case.E**-0.5)
    yield close(given, default, "the scale measured for scale=1/√E, against the default")
