"""Checks of the chapter spec/attention.md. Each compares the subject with itself, or with a closed form."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.boundary import slopes
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, two_orders, worst, written_out
from attnconf.conformance.engine.evidence import (
    SINGLE,
    SINGLE_SOURCE,
    Failure,
    Measure,
    Unsupported,
    close,
    holds,
    identical,
    within,
)
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.attention import attend

Evidence = Iterator[Measure]


# -- shape, dtype, and what a call may not depend on


@requirement("ATT-PREC-1", stimuli.DISTINCT)
def a_small_step_makes_a_small_smooth_change(subject: Subject, case: Case) -> Evidence:
    """f(x+δ) - 2f(x) + f(x-δ) is of order δ² for a smooth f; rounding to half precision makes it of order 1e-3."""
    middle = subject.attend(case.q, case.k, case.v).out
    unit = float(case.v.abs().max())
    for name in ("q", "k", "v"):
        x: dict[str, Any] = {"q": case.q, "k": case.k, "v": case.v}
        step = 2e-5 * case.draw(f"step-{name}", *x[name].shape)
        up = subject.attend(**{**x, name: x[name] + step}).out
        down = subject.attend(**{**x, name: x[name] - step}).out
        yield close(up + down, 2 * middle, f"out({name} + δ) + out({name} - δ)", unit=unit)


# -- what a row of the output may depend on


@requirement("ATT-BATCH-1", stimuli.DISTINCT, stimuli.BATCHES, any_weights=True)
def a_sample_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    together = subject.attend(case.q, case.k, case.v).out
    for b in range(case.B):
        alone = subject.attend(case.q[b : b + 1], case.k[b : b + 1], case.v[b : b + 1]).out
        yield close(together[b : b + 1], alone, f"out of sample {b} in the batch, against it alone,")


@requirement("ATT-HEAD-1", stimuli.DISTINCT)
def a_head_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    other = case.but(name="other")
    for h in range(case.H):
        q, k, v = other.q.clone(), other.k.clone(), other.v.clone()
        q[:, h], k[:, h], v[:, h] = case.q[:, h], case.k[:, h], case.v[:, h]
        got = subject.attend(q, k, v).out
        yield close(got[:, h], want[:, h], f"out of head {h} when only the other heads change")


@requirement("ATT-QUERY-1", stimuli.DISTINCT, any_weights=True)
def a_query_does_not_see_the_others(subject: Subject, case: Case) -> Evidence:
    together = subject.attend(case.q, case.k, case.v).out
    for i in range(case.L):
        alone = subject.attend(case.q[:, :, i : i + 1], case.k, case.v).out
        yield close(together[:, :, i : i + 1], alone, f"out of query {i} among the others, against it alone,")
    order = case.permutation("queries", case.L)
    yield close(
        subject.attend(case.q[:, :, order], case.k, case.v).out, together[:, :, order], "out of permuted queries"
    )


@requirement("ATT-KEYS-1", stimuli.DISTINCT, any_weights=True, moves_keys=True)
def the_order_of_the_keys_does_not_matter(subject: Subject, case: Case) -> Evidence:
    order = case.permutation("keys", case.S)
    want = subject.attend(case.q, case.k, case.v).out
    got = subject.attend(case.q, case.k[:, :, order], case.v[:, :, order]).out
    yield close(got, want, "out with keys and values permuted together")


# -- the weights: an average over the keys


@requirement("ATT-LINEAR-1", stimuli.DISTINCT)
def the_output_is_linear_in_the_values(subject: Subject, case: Case) -> Evidence:
    w = case.draw("other values", *case.v.shape)
    got = subject.attend(case.q, case.k, 2 * case.v - 3 * w).out
    want = 2 * subject.attend(case.q, case.k, case.v).out - 3 * subject.attend(case.q, case.k, w).out
    yield close(got, want, "out(2v - 3w) against 2 out(v) - 3 out(w)")


@requirement("ATT-ROWS-1", stimuli.DISTINCT, stimuli.EDGES)
def the_weights_of_a_query_sum_to_one(subject: Subject, case: Case) -> Evidence:
    out = subject.attend(case.q, case.k, torch.ones_like(case.v)).out
    yield close(out, torch.ones_like(out), "out with V = 1")


@requirement("ATT-CONVEX-1", stimuli.DISTINCT)
def the_output_lies_between_the_values(subject: Subject, case: Case) -> Evidence:
    out = subject.attend(case.q, case.k, case.v).out
    low, high = case.v.amin(dim=2, keepdim=True), case.v.amax(dim=2, keepdim=True)
    yield within(out, low.expand_as(out), high.expand_as(out), "out, clamped to the values' range,")


@requirement("ATT-SINGLE-1", stimuli.DISTINCT)
def a_single_key_hands_over_its_value(subject: Subject, case: Case) -> Evidence:
    # exact where code computes in float32, too, and where what is fed in is added to the output and taken off again
    q, k, v = (x.float().to(case.dtype) for x in (case.q, case.k[:, :, :1], case.v[:, :, :1]))
    yield identical(subject.attend(q, k, v).out, v.expand(-1, -1, case.L, -1).contiguous(), "out with one key")


@requirement("ATT-DUPL-1", stimuli.DISTINCT)
def repeating_every_key_changes_nothing(subject: Subject, case: Case) -> Evidence:
    q, k, v = case.q, case.k[:, :, :4], case.v[:, :, :4]
    want = subject.attend(q, k, v).out
    got = subject.attend(q, k.repeat(1, 1, 2, 1), v.repeat(1, 1, 2, 1)).out
    yield close(got, want, "out with every key and value there twice")


@requirement("ATT-LONG-1", stimuli.LONG)
def every_key_and_query_of_a_long_sequence_counts(subject: Subject, case: Case) -> Evidence:
    yield from counts_every_key(subject, case)


@requirement("ATT-LONG-2", stimuli.LONGER)
def every_key_and_query_beyond_2048_counts(subject: Subject, case: Case) -> Evidence:
    yield from counts_every_key(subject, case)


def counts_every_key(subject: Subject, case: Case) -> Evidence:
    """Equal scores (q = 0) weigh every key alike: the output is the mean of all values, in every row."""
    out = subject.attend(torch.zeros_like(case.q), case.k, case.v).out
    want, what = (
        case.v.double().mean(dim=2, keepdim=True).expand_as(out),
        "out with q = 0, against the mean of the values,",
    )
    if case.dtype == torch.float32:
        yield close(out, want, what, bound=SINGLE, source=SINGLE_SOURCE, unit=float(case.v.abs().max()))
    else:
        yield close(out, want, what)


# -- the scores


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
    """Return the weights (B, H, L, S) in evaluation, and as training leaves them, each twice as (…, 2, S)."""
    S = case.E // 2
    k, v = case.k[:, :, :S], torch.eye(S, case.E, dtype=case.dtype, device=case.device)
    v[:, S : 2 * S] = torch.eye(S)
    v = v.expand(case.B, case.H, -1, -1)
    train = subject.attend(case.q, k, v, dropout=P, training=True, seed=1).out[..., : 2 * S]
    evaluated = subject.attend(case.q, k, v).out[..., : 2 * S]
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
    rate, n = float(gone[..., 0, :].double().mean()), gone[..., 0, :].numel()
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


# -- everything at once, and how precisely


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
    yield close(reply.out, want)
    for name, grad in grads.items():
        unit = max(float(grad.abs().max()), float(cotangent.abs().max()))  # one key: the gradient of q is 0
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit)


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
