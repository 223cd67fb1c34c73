"""Checks of the chapter spec/rotary.md: attention with rotary positions."""

import math
from functools import partial

import torch
from torch import Tensor, einsum

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import BASES, Evidence
from attnconf.conformance.chapters.rotary.stimuli import (
    attended,
    attention_config,
    choice,
    frequencies,
    to_features,
    to_pairs,
    weights_of,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, holds, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference import rotary as reference


def triple(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (case.draw(name, case.B, case.H, case.L, case.E) for name in ("query", "key", "value"))
    return q, k, v


@requirement("ROPE-VALUE-1", stimuli.ATTENTION)
def values_are_not_turned(subject: Subject, case: Case) -> Evidence:
    """Queries of zero weigh all keys alike."""
    _, k, v = triple(case)
    out = attended(subject, case, torch.zeros_like(k), k, v)
    yield close(
        out, v.mean(dim=-2, keepdim=True).expand_as(out), "out with queries of zero against the mean of the values:"
    )


@requirement("ROPE-ORDER-1", stimuli.ATTENTION)
def the_order_of_the_tokens_matters(subject: Subject, case: Case) -> Evidence:
    q, k, v = triple(case)
    order = case.permutation("order", case.L)
    plain = attended(subject, case, q, k, v)[:, :, order]
    permuted = attended(subject, case, q[:, :, order], k[:, :, order], v[:, :, order])
    moved = float((permuted - plain).abs().max() / plain.abs().max())
    yield holds(moved > 0.01, f"tokens in another order give the same output in that order, up to {moved:.2g}")
    yield close(attended(subject, case, q, k, v)[:, :, order], plain, "out in a second call")


@requirement("ROPE-REL-2", stimuli.ATTENTION)
def weights_depend_on_distances_only(subject: Subject, case: Case) -> Evidence:
    """One query everywhere and two keys in turn: two tokens on, everything is as it was."""
    content = case.draw("contents", case.B, case.H, 3, case.E)
    q = content[:, :, :1].expand(-1, -1, case.L, -1).contiguous()
    k = content[:, :, 1 + torch.arange(case.L) % 2]
    log = weights_of(subject, case, q, k).log()
    odds = log[..., 1:] - log[..., :-1]
    yield close(odds[..., 2:, 2:], odds[..., :-2, :-2], "log odds of neighbouring keys, two tokens on,")
    one, other = (content[:, :, at : at + 1].expand_as(q).contiguous() for at in (0, 1))
    odds, back = (against_own(weights_of(subject, case, *both)) for both in ((one, other), (other, one)))
    yield close(odds, back.transpose(-1, -2), "log odds of keys b for queries a, against keys a for queries b,")


def against_own(weights: Tensor) -> Tensor:
    """Return the log odds of every key against that at the query's own place."""
    log = weights.log()
    return log - torch.diagonal(log, dim1=-2, dim2=-1)[..., None]


@requirement("ROPE-SCALE-1", stimuli.ATTENTION)
def scores_are_divided_by_the_root_of_the_head_width(subject: Subject, case: Case) -> Evidence:
    """In sample b only key b is not zero, and query b stands where it stands, so that no angle is left."""
    each = torch.arange(case.L, device=case.device)
    vector = case.draw("vector", case.H, case.E)
    q = vector[None, :, None, :].expand(case.L, -1, case.L, -1).contiguous()
    k = torch.zeros_like(q)
    k[each, :, each] = vector
    log = weights_of(subject, case, q, k).log()[each, :, each]  # (L, H, L)
    at = log[each, :, each]
    elsewhere = log[each, :, each.roll(1)]
    want = vector.square().sum(dim=-1).expand(case.L, -1) / math.sqrt(case.E)
    yield close(at - elsewhere, want, "log odds of a key at the query's own position against |q|²/√E:")


def odds_by_distance(subject: Subject, case: Case, base: float, second: int) -> tuple[Tensor, Tensor]:
    """Return log odds of keys against the query's own, and by how much they turned: (I, H, L, L) and (I, L, L).

    In sample i the query is the first element of pair i, and the keys are its ``second`` (1) or first (0) element.
    """
    eye = torch.eye(case.E // 2, dtype=case.dtype, device=case.device) * math.sqrt(
        3 * math.sqrt(case.E)
    )  # scores of ±3
    pairs = torch.zeros(2, *eye.shape, 2, dtype=case.dtype, device=case.device)
    pairs[0, ..., 0] = pairs[1, ..., second] = eye
    q, k = (to_features(x, choice(subject))[:, None, None].expand(-1, case.H, case.L, -1).contiguous() for x in pairs)
    odds = against_own(weights_of(subject, case, q, k, base=base))
    each = torch.arange(case.L, device=case.device)
    theta = einsum("p,i->ip", each.double(), frequencies(case.E, base).to(case.device))
    return odds, theta[:, :, None] - theta[:, None, :]


@requirement("ROPE-FREQ-2", stimuli.ATTENTION)
def scores_follow_the_frequencies_of_the_head(subject: Subject, case: Case) -> Evidence:
    for base in (10000.0, *BASES):
        odds, theta = odds_by_distance(subject, case, base, 1)
        want = (3 * theta.sin()).abs()[:, None].expand_as(odds)
        yield close(odds.abs(), want, f"|log odds| of first and second features, base {base:g},")
        odds, theta = odds_by_distance(subject, case, base, 0)
        yield close(odds, (3 * theta.cos() - 3)[:, None].expand_as(odds), f"log odds of equal features, base {base:g},")


@requirement("ROPE-DIR-2", stimuli.ATTENTION)
def a_later_query_is_turned_further(subject: Subject, case: Case) -> Evidence:
    odds, theta = odds_by_distance(subject, case, 10000.0, 1)
    want = (3 * theta.sin())[:, None].expand_as(odds)
    yield close(odds, want, "log odds of a query's first and keys' second features")


@requirement("ROPE-CAUSAL-1", stimuli.ATTENTION)
def causality_hides_later_tokens_and_nothing_else(subject: Subject, case: Case) -> Evidence:
    q, k, _ = triple(case)
    plain, hidden = (weights_of(subject, case, q, k, causal=causal) for causal in (False, True))
    later = torch.ones(case.L, case.L, dtype=torch.bool, device=case.device).triu(1)
    yield identical(hidden[..., later], torch.zeros_like(hidden[..., later]), "weights of later tokens")
    seen = plain.masked_fill(later, 0.0)
    yield close(
        hidden, seen / seen.sum(dim=-1, keepdim=True), "weights of the tokens so far, against those without causality,"
    )


@requirement("ROPE-POS-5", stimuli.ATTENTION)
def tokens_may_come_with_their_positions(subject: Subject, case: Case) -> Evidence:
    """In any order, moved by any distance, and every sample in an order of its own."""
    q, k, v = triple(case)
    want = attended(subject, case, q, k, v)
    count = torch.arange(case.L, device=case.device)
    yield close(attended(subject, case, q, k, v, count + 5), want, "out with all positions moved by 5")
    order = torch.stack([case.permutation(f"order {b}", case.L) for b in range(case.B)])
    one = order[:1].expand_as(order)
    for what, by, positions in (("", one, order[0]), (", each sample in its own", order, order)):
        at = by[:, None, :, None].expand_as(q)
        moved = [x.gather(2, at) for x in (q, k, v)]
        got = attended(subject, case, moved[0], moved[1], moved[2], positions)
        yield close(got, want.gather(2, at), f"out of tokens in another order{what}, with their positions,")


@requirement("ROPE-ORACLE-1", stimuli.ATTENTION)
def it_is_attention_on_turned_queries_and_keys(subject: Subject, case: Case) -> Evidence:
    names = ("query", "key", "value")
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.E)
    for causal in (False, True):
        inputs = dict(zip(names, triple(case), strict=True))
        reply = subject.ask(
            attention_config(case, causal=causal), inputs, tuple(cotangent.shape), cotangent=cotangent, wrt=names
        )
        wanted = partial(oracle, case, choice(subject), cotangent, causal)
        want, grads = case.once(f"oracle {choice(subject)} {causal}", wanted)
        yield close(reply.out, want)
        for name, grad in zip(names, grads, strict=True):
            yield close(reply.grads[name], grad, f"gradient of {name}")


def oracle(case: Case, pairing: str, cotangent: Tensor, causal: bool) -> tuple[Tensor, list[Tensor]]:
    """Return what the reference makes of a case's inputs, and the gradients; its pairs are neighbours."""
    leaves = [x.clone().requires_grad_() for x in triple(case)]
    q, k = (to_pairs(x, pairing).flatten(-2) for x in leaves[:2])
    omega = frequencies(case.E, 10000.0).to(case.device)
    out = reference.rotary_attention(q, k, leaves[2], None, omega, causal)
    return out.detach(), slopes([(out, cotangent)], leaves)
