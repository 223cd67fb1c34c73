"""Checks of the chapter spec/alibi.md.

Each reads the bias out of the component: directly, or, where it is attention, as log odds of the weights under queries
of zero. What a row of the bias has in common cancels in the softmax, so it is read against the query's own key.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import AlibiAttentionConfig, AlibiConfig
from attnconf.conformance.chapters.alibi import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, Observed, close, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.alibi import alibi_attention, geometric
from attnconf.reference.alibi import slopes as published

Evidence = Iterator[Measure | Observed]


# -- asking, and reading the bias


def attending(subject: Subject, q: Tensor, k: Tensor, v: Tensor, causal: bool = True) -> Call:
    """Return the call of attention with ALiBi: q, k, v and out (B, H, L, E)."""
    config = AlibiAttentionConfig(q.shape[1], q.shape[-1], causal, q.dtype, str(q.device))
    return Call(subject.component, config, {}, {"query": q, "key": k, "value": v}, tuple(q.shape))


def attend(subject: Subject, q: Tensor, k: Tensor, v: Tensor, causal: bool = True, **options: Any) -> Reply:
    """Return the reply of attention with ALiBi: q, k, v and out (B, H, L, E)."""
    return subject.call(attending(subject, q, k, v, causal).asked(**options))


def tokens(case: Case, length: int, batch: int = 1, width: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, k and v = I for so many tokens, (batch, H, length, width or E): out is the weights, then zeros."""
    E = width or case.E
    q, k = (case.draw(name, batch, case.H, length, E) for name in "qk")
    identity = torch.eye(length, E, dtype=case.dtype, device=case.device)
    return q, k, identity.expand_as(q).contiguous()


def log_weights(
    subject: Subject, case: Case, length: int, causal: bool = True, batch: int = 1, width: int = 0, *, blind: bool,
    before: tuple[int, ...] = (),
) -> Tensor:  # fmt: skip
    """Return the logarithms of the weights, (batch, H, length, length); ``blind``: all queries are zero."""
    q, k, v = tokens(case, length, batch, width)
    earlier = tuple(dict(zip(("query", "key", "value"), tokens(case, n, batch, width), strict=True)) for n in before)
    out = attend(subject, torch.zeros_like(q) if blind else q, k, v, causal, before=earlier).out
    return out[..., :length].double().log()


def bias_call(subject: Subject, case: Case, queries: int, keys: int, causal: bool = True) -> Call:
    """Return the call of the bias, whose output is (H, queries, keys)."""
    config = AlibiConfig(case.H, causal, case.dtype, case.device)
    inputs = {"query_length": queries, "key_length": keys}
    return Call(subject.component, config, {}, inputs, (case.H, queries, keys))


def ask_for_bias(
    subject: Subject, case: Case, queries: int, keys: int, causal: bool = True, before: tuple[int, ...] = ()
) -> Reply:
    lengths = tuple({"query_length": n, "key_length": n} for n in before)
    return subject.call(bias_call(subject, case, queries, keys, causal).asked(before=lengths))


def against_own_key(x: Tensor, causal: bool) -> Tensor:
    """Return x (…, L, S) minus what it is at each query's own key, i + S - L; 0 at hidden keys, if causal."""
    L, S = x.shape[-2:]
    own = torch.arange(S - L, S, device=x.device)[:, None]
    moved = x - x.gather(-1, own.expand(*x.shape[:-1], 1))
    return moved.masked_fill(torch.arange(S, device=x.device) > own, 0.0) if causal else moved


def read_bias(
    subject: Subject, case: Case, length: int, causal: bool = True, width: int = 0, before: tuple[int, ...] = ()
) -> Tensor:
    """Return the bias of so many tokens against that of each query's own key: (H, length, length), float64."""
    if not subject.offers("scores"):
        bias = ask_for_bias(subject, case, length, length, causal, before).out.double()
    else:
        bias = log_weights(subject, case, length, causal, width=width, blind=True, before=before)[0]
    return against_own_key(bias, causal)


def read_slopes(subject: Subject, case: Case, length: int) -> Tensor:
    """Return how much each head lowers the first key for the last query, per token: (H,)."""
    return -read_bias(subject, case, length)[:, -1, 0] / (length - 1)


def distances(length: int, like: Tensor) -> Tensor:
    """Return how many tokens key j is before query i, (length, length); 0 where it is not."""
    i = torch.arange(length, dtype=like.dtype, device=like.device)
    return (i[:, None] - i).clamp(min=0)


# -- what comes back


# -- how it depends on the distance


@requirement("ALIBI-DISTANCE-1", stimuli.USUAL)
def every_query_sees_the_same_penalty_at_the_same_distance(subject: Subject, case: Case) -> Evidence:
    bias = read_bias(subject, case, case.S)
    far = distances(case.S, bias).long()
    want = bias[:, -1].flip(-1)[:, far]  # of the last query, by distance
    yield close(bias, want, "bias against that of the last query at the same distance:")


@requirement("ALIBI-SIGN-1", stimuli.USUAL)
def a_key_further_away_has_a_smaller_bias(subject: Subject, case: Case) -> Evidence:
    steps = read_bias(subject, case, case.S)[:, -1].diff(dim=-1)
    message = f"from a key to the next one nearer the bias moves by {steps.min():.6g}, want a rise"
    yield holds(bool((steps > 0).all()), message)


@requirement("ALIBI-LINEAR-1", stimuli.USUAL)
def twice_the_distance_is_twice_the_penalty(subject: Subject, case: Case) -> Evidence:
    last = read_bias(subject, case, case.S)[:, -1]
    want = last[:, -2:-1] * distances(case.S, last)[-1]
    yield close(last, want, "bias of the last query against distance times its bias at distance 1:")


@requirement("ALIBI-LONG-1", stimuli.LONG)
def the_penalty_stays_linear_over_hundreds_of_tokens(subject: Subject, case: Case) -> Evidence:
    short = min(9, case.S)
    slope = read_slopes(subject, case, short)
    bias = read_bias(subject, case, case.S)
    want = -slope[:, None, None] * distances(case.S, bias)
    yield close(bias, want, f"bias of {case.S} tokens against distance times the slope seen in {short}:")


@requirement("ALIBI-HALF-1", stimuli.LONG)
def half_precision_tells_neighbours_apart(subject: Subject, case: Case) -> Evidence:
    near = distances(case.S, torch.zeros((), device=case.device)) <= 16
    want = read_bias(subject, case, case.S).masked_fill(~near, 0.0)
    yield holds(bool((want != 0).any()), "no key is penalised")
    for dtype in (torch.bfloat16, torch.float16):
        bound = torch.finfo(dtype).eps
        got = read_bias(subject, case.but(dtype=dtype), case.S).masked_fill(~near, 0.0)
        name = str(dtype).removeprefix("torch.")
        yield close(got, want, f"bias in {name} up to 16 tokens away", bound=bound, source=f"two roundings of {name}")


@requirement("ALIBI-BOTH-1", stimuli.USUAL)
def later_keys_are_penalised_as_earlier_ones(subject: Subject, case: Case) -> Evidence:
    length = case.S | 1  # odd, so that there is a middle
    bias = read_bias(subject, case, length, causal=False)
    middle = bias[:, length // 2]
    yield close(middle, middle.flip(-1), "bias of the middle query without causality, against itself mirrored:")
    want = read_bias(subject, case, length)[:, -1]
    yield close(bias[:, -1], want, "bias of the last query without causality, against that with it:")


@requirement("ALIBI-ALIGN-1", stimuli.CACHED)
def the_last_query_stands_at_the_last_key(subject: Subject, case: Case) -> Evidence:
    want = read_bias(subject, case, case.S)[:, -case.L :]
    got = against_own_key(ask_for_bias(subject, case, case.L, case.S).out.double(), causal=True)
    yield close(got, want, f"bias of {case.L} queries against the last {case.L} of {case.S}:")


# -- slopes


def with_power_of_two(case: Case) -> Case:
    """Return the case with so many heads, or, where they are no power of two (--thorough), with that below."""
    return case.but(H=1 << (case.H.bit_length() - 1))


@requirement("ALIBI-HEAD-1", stimuli.USUAL)
def each_head_is_flatter_than_the_one_before(subject: Subject, case: Case) -> Evidence:
    case = with_power_of_two(case)
    slope = read_slopes(subject, case, case.S).abs()
    message = f"slopes of the heads are {', '.join(f'{m:.4g}' for m in slope.tolist())}, want them falling"
    yield holds(bool((slope.diff() < 0).all()), message)


@requirement("ALIBI-SLOPE-1", stimuli.POWERS)
def slopes_are_the_powers_of_one_number(subject: Subject, case: Case) -> Evidence:
    case = with_power_of_two(case)
    yield close(read_slopes(subject, case, case.S), geometric(case.H).to(case.device), "slopes")


RULES = {"published": published, "geometric": geometric}


@requirement("ALIBI-SLOPE-2", stimuli.OTHERS)
def slopes_of_other_numbers_of_heads_follow_a_rule_in_use(subject: Subject, case: Case) -> Evidence:
    case = case if case.H & (case.H - 1) else case.but(H=case.H + 1 if case.H > 2 else 3)
    got = read_slopes(subject, case, case.S)
    rule = subject.choice("alibi-slopes")
    if "alibi-slopes" not in subject.declares:
        rule = min(RULES, key=lambda name: float((got - RULES[name](case.H).to(got)).abs().max()))
        yield Observed("alibi-slopes", rule)
    yield close(got, RULES[rule](case.H).to(case.device), f"slopes for {case.H} heads by the {rule} rule")


# -- in attention


def moved_by_queries(subject: Subject, case: Case) -> tuple[Tensor, Tensor]:
    """Return how queries move the log odds against the own key, and q·k against the own key: (1, H, S, S) each."""
    seeing, blind = (log_weights(subject, case, case.S, blind=blind) for blind in (False, True))
    q, k, _ = tokens(case, case.S)
    products = torch.einsum("bhle,bhse->bhls", q, k)
    return against_own_key(seeing, True) - against_own_key(blind, True), against_own_key(products, True)


@requirement("ALIBI-ADD-1", stimuli.USUAL)
def the_bias_is_added_to_the_scores(subject: Subject, case: Case) -> Evidence:
    q, k, v = tokens(case, case.S)
    sums = attend(subject, q, k, torch.ones_like(v)).out
    yield close(sums, torch.ones_like(sums), "out with V = 1")
    got, products = moved_by_queries(subject, case)
    factor = (got * products).sum() / products.square().sum()
    yield holds(bool(factor != 0), "queries do not move the weights")
    yield close(got, factor * products, "log odds moved by the queries, against a multiple of q·k:")


@requirement("ALIBI-SCALE-1", stimuli.USUAL)
def scores_are_scaled_as_without_the_bias(subject: Subject, case: Case) -> Evidence:
    got, products = moved_by_queries(subject, case)
    yield close(got, products * case.E**-0.5, "log odds moved by the queries, against q·k/√E:")


@requirement("ALIBI-WIDTH-1", stimuli.USUAL)
def the_bias_itself_is_not_scaled(subject: Subject, case: Case) -> Evidence:
    want = read_bias(subject, case, case.S)
    got = read_bias(subject, case, case.S, width=2 * case.E)
    yield close(got, want, f"bias in heads {2 * case.E} wide, against that in heads {case.E} wide:")


@requirement("ALIBI-SAMPLE-1", stimuli.USUAL)
def every_sample_has_the_same_bias(subject: Subject, case: Case) -> Evidence:
    bias = against_own_key(log_weights(subject, case, case.S, batch=case.B, blind=True), True)
    yield close(bias, bias[:1].expand_as(bias), "bias of each sample against that of the first:")


@requirement("ALIBI-CAUSAL-1", stimuli.USUAL)
def with_causality_later_tokens_do_not_matter(subject: Subject, case: Case) -> Evidence:
    q, k, v = tokens(case, case.S, case.B)
    v = case.draw("v", *v.shape)
    want = attend(subject, q, k, v).out[:, :, :-2]
    k, v = k.clone(), v.clone()
    k[:, :, -2:], v[:, :, -2:] = 3 - k[:, :, -2:], 3 - v[:, :, -2:]
    got = attend(subject, q, k, v).out[:, :, :-2]
    yield close(got, want, "out of all tokens but the last two, those two changed,")


@requirement("ALIBI-ORACLE-1", stimuli.USUAL)
def attention_with_alibi_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    case = with_power_of_two(case)
    shape = (case.B, case.H, case.S, case.E)
    q, k, v, cotangent = (case.draw(name, *shape) for name in ("q", "k", "v", "cotangent"))
    reply = attend(subject, q, k, v, cotangent=cotangent, wrt=("query", "key", "value"))
    q, k, v = leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    want = alibi_attention(q, k, v)
    yield close(reply.out, want)
    if case.S > 2:
        order = [*range(case.S - 2, -1, -1), case.S - 1]  # all but the last, which sees them all, change places
        moved = attend(subject, q.detach(), k.detach()[:, :, order], v.detach()[:, :, order]).out - reply.out
        yield holds(float(moved[:, :, -1].abs().max()) > 0.01, "the last output does not depend on the order of keys")
    grads = slopes([(want, cotangent)], leaves)
    for name, grad in zip(("query", "key", "value"), grads, strict=True):
        yield close(reply.grads[name], grad, f"gradient of {name}")
