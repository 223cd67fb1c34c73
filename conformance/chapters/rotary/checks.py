"""Checks of the chapter spec/rotary.md.

Most read the rotation off as a matrix, from unit vectors at the first few positions, where float32 tables are exact
enough to judge meaning; long positions are judged by how errors of float32 angles grow.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, einsum

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.stimuli import (
    attended,
    attention_config,
    blocks,
    choice,
    config_for,
    drawn,
    formula,
    frequencies,
    operators,
    refused,
    rotated,
    to_features,
    to_pairs,
    turned,
    weights_of,
)
from attnconf.conformance.engine.boundary import slopes
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, Observed, close, holds, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference import rotary as reference

Evidence = Iterator[Measure | Observed]

FEW = 7  # positions, small enough for float32 tables
BASES = (500.0, 1e6)
# Errors of angles computed in float32, in radians: they grow with the position.
FLOAT32_SOURCE = "float32 angles: (1.2e-7·p + 2^-22)·norm"
HALF_SOURCE = "two steps of the dtype, and float32 angles: (2·eps + 1.2e-7·p)·norm"


def coarse(x: Tensor) -> Tensor:
    """Return x rounded to float32, so that nothing is lost where it is converted and back."""
    return x.float().to(x.dtype)


# -- either component, whatever it computes


@requirement("ROPE-ODD-1", stimuli.ONE)
def an_odd_width_is_refused(subject: Subject, case: Case) -> Evidence:
    for width in (5, 7):
        x = case.draw("odd", case.B, case.H, case.L, width)
        yield refused(subject, case, f"{width} features, which are no pairs", x)


# -- the rotation


@requirement("ROPE-LINEAR-1", stimuli.USUAL)
def the_output_is_linear_in_the_input(subject: Subject, case: Case) -> Evidence:
    x, y = drawn(case), case.draw("y", case.B, case.H, case.L, case.E)
    got = rotated(subject, case, 2 * x - 3 * y)
    yield close(got, 2 * rotated(subject, case, x) - 3 * rotated(subject, case, y), "out of 2x - 3y")


@requirement("ROPE-HEAD-1", stimuli.USUAL, stimuli.BATCHES)
def heads_turn_alike(subject: Subject, case: Case) -> Evidence:
    out = rotated(subject, case, drawn(case)[:, :1].expand(-1, case.H, -1, -1).contiguous())
    yield close(out, out[:, :1].expand_as(out), "out where all heads are the same")


@requirement("ROPE-BATCH-1", stimuli.USUAL, stimuli.BATCHES)
def samples_turn_alike(subject: Subject, case: Case) -> Evidence:
    out = rotated(subject, case, drawn(case)[:1].expand(case.B, -1, -1, -1).contiguous())
    yield close(out, out[:1].expand_as(out), "out where all samples are the same")


@requirement("ROPE-NORM-1", stimuli.USUAL)
def the_norm_is_kept(subject: Subject, case: Case) -> Evidence:
    x = drawn(case)
    yield close(rotated(subject, case, x).norm(dim=-1), x.norm(dim=-1), "norm")


@requirement("ROPE-ZERO-1", stimuli.USUAL)
def position_zero_is_the_identity(subject: Subject, case: Case) -> Evidence:
    x = coarse(drawn(case))
    yield identical(rotated(subject, case, x)[:, :, 0], x[:, :, 0], "out of the first token")


@requirement("ROPE-REL-1", stimuli.USUAL)
def only_the_distance_of_two_positions_counts(subject: Subject, case: Case) -> Evidence:
    """As matrices: R_mᵀ R_n = R_(n-m). Composition and inverse follow, as R_0 is the identity."""
    matrix = operators(subject, case, FEW)
    steps = [matrix[m].T @ matrix[n] for m in range(FEW) for n in range(m, FEW)]
    want = [matrix[n - m] for m in range(FEW) for n in range(m, FEW)]
    yield close(torch.stack(steps), torch.stack(want), "R_mᵀ R_n against R_(n-m)")
    composed = [matrix[m] @ matrix[n] for m in range(FEW) for n in range(FEW - m)]
    yield close(
        torch.stack(composed), torch.stack([matrix[m + n] for m in range(FEW) for n in range(FEW - m)]), "R_m R_n"
    )


@requirement("ROPE-PAIR-1", stimuli.USUAL)
def a_feature_mixes_with_its_partner_only(subject: Subject, case: Case) -> Evidence:
    matrix = operators(subject, case, FEW)
    fits = [p for p in ("interleaved", "half") if strays(matrix, p) <= 1e-6]
    if choice(subject) in fits:
        yield Observed("rope-pairing", choice(subject))
    seen = f" (the pairs are {fits[0]})" if fits else ""
    stray = outside(matrix, choice(subject))
    yield close(stray, torch.zeros_like(stray), f"R_p between features that are no pair{seen}", unit=1.0)


def outside(matrix: Tensor, pairing: str) -> Tensor:
    """Return R_p (L, E, E) with the entries within pairs blanked."""
    width = matrix.shape[-1]
    pair_of = to_features(torch.arange(width // 2)[:, None].expand(-1, 2), pairing).to(matrix.device)
    return matrix.masked_fill(pair_of[:, None] == pair_of, 0.0)


def strays(matrix: Tensor, pairing: str) -> float:
    return float(outside(matrix, pairing).abs().max())


@requirement("ROPE-FREQ-1", stimuli.USUAL)
def pairs_turn_by_their_frequencies(subject: Subject, case: Case) -> Evidence:
    yield from turning_alike(subject, case, 10000.0)


@requirement("ROPE-BASE-1", stimuli.USUAL)
def the_base_is_honoured(subject: Subject, case: Case) -> Evidence:
    for base in BASES:
        yield from turning_alike(subject, case, base)


def turning_alike(subject: Subject, case: Case, base: float) -> Evidence:
    """Yield whether each pair turns by p·ω_i, in whichever direction."""
    block = blocks(subject, case, FEW, base=base)
    cos, sin = formula(torch.arange(FEW, device=block.device), frequencies(case.E, base).to(block.device))
    yield close(block[..., 0, 0], cos, f"cos of the angles with base {base:g}")
    yield close(block[..., 1, 0].abs(), sin.abs(), f"|sin| of the angles with base {base:g}")


@requirement("ROPE-DIR-1", stimuli.USUAL)
def a_pair_turns_from_its_first_towards_its_second(subject: Subject, case: Case) -> Evidence:
    """At p = 1, where every angle lies between 0 and π."""
    block = blocks(subject, case, 2)[1]
    sin = frequencies(case.E, 10000.0).sin().to(block.device)
    yield close(block[..., 1, 0], sin, "sin, from the first element to the second, at position 1,")
    yield close(block[..., 0, 1], -sin, "-sin, from the second element to the first, at position 1,")


@requirement("ROPE-EDGE-1", stimuli.EDGES)
def one_of_anything_turns_too(subject: Subject, case: Case) -> Evidence:
    at = torch.arange(case.L, device=case.device)
    want = turned(drawn(case), at, frequencies(case.E, 10000.0), choice(subject))
    if case.E == 2:
        yield right_or_refused(subject, case, drawn(case), want, "out for heads of one pair")
    else:
        yield close(rotated(subject, case, drawn(case)), want)


@requirement("ROPE-GRAD-1", stimuli.ONE)
def the_gradient_is_turned_back(subject: Subject, case: Case) -> Evidence:
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.E)
    reply = subject.ask(config_for(case), {"x": drawn(case)}, tuple(cotangent.shape), cotangent=cotangent, wrt=("x",))
    want = einsum("lij,bhli->bhlj", operators(subject, case, case.L), cotangent)
    yield close(reply.grads["x"], want, "gradient of x against R_pᵀ of the upstream")


# -- precision, and what was asked before


@requirement("ROPE-LONG-1", stimuli.LONG)
def long_positions_are_right_in_float32(subject: Subject, case: Case) -> Evidence:
    x = drawn(case).float()
    got = rotated(subject, case, x, dtype=torch.float32)
    yield near(subject, case, x, got, 2.0**-22, FLOAT32_SOURCE)


@requirement("ROPE-HALF-1", stimuli.HALF)
def half_precision_does_not_reach_the_angles(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        x = drawn(case).to(dtype)
        got = rotated(subject, case, x, dtype=dtype)
        yield near(subject, case, x, got, 2 * torch.finfo(dtype).eps, HALF_SOURCE)


def near(subject: Subject, case: Case, x: Tensor, got: Tensor, rounding: float, source: str) -> Measure:
    """Compare with the formula, each pair in units of its norm."""
    at = torch.arange(case.L, device=x.device)
    want = turned(x, at, frequencies(case.E, 10000.0), choice(subject))
    norm = to_pairs(x.double(), choice(subject)).norm(dim=-1, keepdim=True)
    one, other = (to_pairs(y.double(), choice(subject)) / norm for y in (got, want))
    dtype = str(x.dtype).removeprefix("torch.")
    what = f"pairs of unit norm, by (sample, head, position, pair, element), {dtype},"
    return close(one, other, what, bound=1.2e-7 * case.L + rounding, unit=1.0, source=source)


@requirement("ROPE-CACHE-1", stimuli.ONE)
def earlier_lengths_do_not_matter(subject: Subject, case: Case) -> Evidence:
    x = case.draw("longer", case.B, case.H, FEW, case.E)
    for lengths in ((3, FEW), (FEW, 3), (3, FEW, 5)):
        *earlier, last = (x[:, :, :n].contiguous() for n in lengths)
        got = rotated(subject, case, last, before=tuple({"x": y} for y in earlier))
        what = f"out for {lengths[-1]} tokens after calls for {', '.join(map(str, lengths[:-1]))}"
        yield close(got, rotated(subject, case, last), what)


@requirement("ROPE-MAX-1", stimuli.ONE)
def beyond_the_longest_sequence_it_is_right_or_an_error(subject: Subject, case: Case) -> Evidence:
    x = case.draw("longer", case.B, case.H, 11, case.E)
    want = rotated(subject, case, x)
    yield close(rotated(subject, case, x, max_len=11), want, "out for as many tokens as max_len")
    yield right_or_refused(subject, case, x, want, "out for 11 tokens with max_len 6", max_len=6)


def right_or_refused(subject: Subject, case: Case, x: Tensor, want: Tensor, what: str, **asked: Any) -> Measure:
    """Return a measure if the subject gives what is wanted, or raises an exception."""
    try:
        got = rotated(subject, case, x, **asked)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
        raise
    return close(got, want, f"{what} (an error would do)")


# -- explicit positions


def at_positions(subject: Subject, case: Case, positions: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """Return what x becomes at these positions (L,) or (B, L), and what the subject's own rotation makes of it."""
    x = drawn(case)
    matrix = operators(subject, case, int(positions.max()) + 1)
    each = positions.expand(case.B, case.L)
    return rotated(subject, case, x, positions, **options), einsum("blij,bhlj->bhli", matrix[each], x)


@requirement("ROPE-POS-1", stimuli.POSITIONS)
def a_token_turns_by_the_position_it_is_given(subject: Subject, case: Case) -> Evidence:
    count = torch.arange(case.L, device=case.device)
    order = case.permutation("order", case.L)
    for what, positions in (
        ("offset", count + 3),
        ("permuted", order),
        ("with gaps", 2 * order),
        ("equal", 0 * count + 2),
    ):
        yield close(*at_positions(subject, case, positions), f"out at positions that are {what}")


@requirement("ROPE-POS-2", stimuli.POSITIONS)
def every_sample_may_have_its_own_positions(subject: Subject, case: Case) -> Evidence:
    positions = torch.stack([case.permutation(f"order {b}", case.L) + b + 1 for b in range(case.B)])
    yield close(*at_positions(subject, case, positions), "out at positions of shape (B, L)")


@requirement("ROPE-POS-3", stimuli.ONE)
def positions_for_another_number_of_tokens_are_refused(subject: Subject, case: Case) -> Evidence:
    for length in (case.L - 1, case.L + 1):
        what = f"{length} positions for {case.L} tokens"
        yield refused(subject, case, what, drawn(case), positions=torch.arange(length, device=case.device))


@requirement("ROPE-POS-4", stimuli.ONE)
def odd_positions_are_right_or_an_error(subject: Subject, case: Case) -> Evidence:
    x, count = drawn(case), torch.arange(case.L, device=case.device)
    want = einsum("lji,bhlj->bhli", operators(subject, case, case.L), x)  # R_(-p) is R_p transposed
    yield right_or_refused(subject, case, x, want, "out at negative positions", positions=-count)
    want = rotated(subject, case, x)
    for dtype in (torch.int32, torch.float32):
        what = f"out at positions of {dtype}"
        yield right_or_refused(subject, case, x, want, what, positions=count.to(dtype))


@requirement("ROPE-CACHE-2", stimuli.ONE)
def earlier_positions_do_not_matter(subject: Subject, case: Case) -> Evidence:
    x, count = drawn(case), torch.arange(case.L, device=case.device)
    for what, earlier, later in (
        ("offset after none", None, count + 2),
        ("offset after others", count, count + 2),
        ("none after offset", count + 2, None),
    ):
        given = {"x": x} if earlier is None else {"x": x, "positions": earlier}
        got = rotated(subject, case, x, later, before=(given,))
        yield close(got, rotated(subject, case, x, later), f"out with positions {what}")


# -- some features only


@requirement("ROPE-REST-1", stimuli.PARTIAL)
def what_does_not_turn_passes(subject: Subject, case: Case) -> Evidence:
    x = coarse(drawn(case))
    for width in (4, case.E - 2):
        out = rotated(subject, case, x, rotary_dim=width)
        yield identical(out[..., width:], x[..., width:], f"features {width} … {case.E - 1} of out")


@requirement("ROPE-PART-1", stimuli.PARTIAL)
def what_turns_does_so_as_a_head_of_its_width(subject: Subject, case: Case) -> Evidence:
    x = drawn(case)
    for width in (4, case.E - 2):
        for base in (10000.0, 500.0):
            want = rotated(subject, case, x[..., :width].contiguous(), base=base)
            got = rotated(subject, case, x, rotary_dim=width, base=base)[..., :width]
            what = f"the first {width} features of {case.E} with base {base:g}, against a head of {width},"
            yield close(got, want, what)


@requirement("ROPE-WIDTH-1", stimuli.PARTIAL)
def more_features_than_there_are_do_not_turn(subject: Subject, case: Case) -> Evidence:
    for width in (case.E + 2, 3):
        yield refused(subject, case, f"rotary_dim {width} of {case.E} features", drawn(case), rotary_dim=width)


# -- longer than trained

Scaling = tuple[tuple[str, float | str], ...]
SCALINGS: dict[str, Scaling] = {
    "linear": (),
    "ntk": (),
    "yarn": (("original_max_position", 32.0), ("beta_fast", 4.0), ("beta_slow", 1.0), ("attention_factor", 1.25)),
    "llama3": (("low_freq_factor", 1.0), ("high_freq_factor", 4.0), ("original_max_position", 32.0)),
}


def scaling_is_that_of_the_formula(subject: Subject, case: Case, kind: str) -> Evidence:
    """Base 100, so that some pairs lie where frequencies are blended."""
    for factor in (4.0, 1.0):
        scaling: Scaling = (("kind", kind), ("factor", factor), *SCALINGS[kind])
        block = blocks(subject, case, FEW, base=100.0, scaling=scaling)
        omega = reference.scaled(frequencies(case.E, 100.0), 100.0, scaling).to(block.device)
        cos, sin = (
            reference.magnitude(scaling) * part for part in formula(torch.arange(FEW, device=omega.device), omega)
        )
        yield close(block[..., 0, 0], cos, f"cos of the angles, {kind} with factor {factor:g},")
        yield close(block[..., 1, 0].abs(), sin.abs(), f"|sin| of the angles, {kind} with factor {factor:g},")


@requirement("ROPE-SCALING-1", stimuli.SCALED)
def linear_scaling_divides_the_frequencies(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "linear")


@requirement("ROPE-SCALING-2", stimuli.SCALED)
def ntk_scaling_keeps_the_first_frequency(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "ntk")


@requirement("ROPE-SCALING-3", stimuli.SCALED)
def yarn_blends_by_index_and_lengthens(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "yarn")


@requirement("ROPE-SCALING-4", stimuli.SCALED)
def llama3_scaling_blends_by_turns(subject: Subject, case: Case) -> Evidence:
    yield from scaling_is_that_of_the_formula(subject, case, "llama3")


# -- attention with rotary positions


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
