"""Checks of the chapter spec/masks.md. Each compares the subject with itself, or with a closed form."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks import log_odds, oracle, read_weights
from attnconf.conformance.chapters.masks import stimuli
from attnconf.conformance.chapters.masks.stimuli import (
    choice_made,
    keeping,
    low_scores,
    lower_shapes,
    poisoned,
    replies,
    some,
    whole,
    with_empty_rows,
)  # fmt: skip
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, Observed, Unsupported, close, holds, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal

Evidence = Iterator[Measure | Observed]


# -- what a mask does


@requirement("MASK-ROWS-1", of_attention.SMALL)
def the_weights_sum_to_one_under_a_mask(subject: Subject, case: Case) -> Evidence:
    mask = some(case, case.B, case.H, case.L, case.S)
    out = subject.attend(case.q, case.k, torch.ones_like(case.v), attn_mask=mask).out
    yield close(out, torch.ones_like(out), "out with V = 1 under a mask")


@requirement("MASK-BOOL-1", of_attention.READABLE)
def true_means_that_the_query_may_attend(subject: Subject, case: Case) -> Evidence:
    """With equal scores (q = 0), each of the keys allowed outweighs each of the others."""
    mask = whole(keeping(case, -1, -2), case)
    weights = read_weights(subject, torch.zeros_like(case.q), case.k, attn_mask=mask)
    allowed, hidden = weights[mask].min(), weights[~mask].max()
    names = "weight of the keys where the mask is"
    yield holds(bool(allowed > hidden), f"smallest {names} True: {allowed:.6g}; largest {names} False: {hidden:.6g}")


@requirement("MASK-ALL-1", of_attention.ONE, stimuli.ONE_SQUARE)
def a_mask_that_allows_everything_changes_nothing(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k, case.v).out
    got = subject.attend(case.q, case.k, case.v, attn_mask=whole(keeping(case), case)).out
    yield close(got, want, "out with a mask that is True everywhere")


@requirement("MASK-DELETE-1", of_attention.DISTINCT)
def hiding_the_last_keys_is_leaving_them_out(subject: Subject, case: Case) -> Evidence:
    want = subject.attend(case.q, case.k[:, :, :-2], case.v[:, :, :-2]).out
    mask = whole(keeping(case, -1, -2), case)
    yield close(subject.attend(case.q, case.k, case.v, attn_mask=mask).out, want, "out with the last two keys hidden")


@requirement("MASK-HOLES-1", of_attention.SMALL)
def hiding_keys_in_between_is_leaving_them_out(subject: Subject, case: Case) -> Evidence:
    for hidden in ((0,), (1, 3)):
        keep = keeping(case, *hidden)
        want = subject.attend(case.q, case.k[:, :, keep], case.v[:, :, keep]).out
        got = subject.attend(case.q, case.k, case.v, attn_mask=whole(keep, case)).out
        yield close(got, want, f"out with the keys {hidden} hidden, against the same without them,")


@requirement("MASK-POISON-1", of_attention.SMALL)
def the_content_of_hidden_keys_does_not_matter(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    k, v = poisoned(case.k, keep, 1e4), poisoned(case.v, keep, 1e8)
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    got = subject.attend(case.q, k, v, attn_mask=mask).out
    yield close(got, want, "out with ±1e4 in hidden keys and ±1e8 in hidden values")


@requirement("MASK-ZERO-1", of_attention.SMALL)
def a_hidden_value_does_not_change_a_bit(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, poisoned(case.v, keep, 0.0), attn_mask=mask).out
    got = subject.attend(case.q, case.k, poisoned(case.v, keep, 1e30), attn_mask=mask).out
    yield identical(got, want, "out with ±1e30 in hidden values, against 0 there,")


@requirement("MASK-SHIFT-1", of_attention.SMALL)
def a_hidden_key_stays_hidden_below_low_scores(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    q, k = low_scores(case, keep)
    mask = whole(keep, case)
    want = subject.attend(q, torch.zeros_like(k), case.v, attn_mask=mask).out
    got = subject.attend(q, k, case.v, attn_mask=mask).out
    yield close(got, want, "out where all allowed scores are -1e5, against scores of 0,")


@requirement("MASK-ZEROGRAD-1", of_attention.SMALL)
def no_gradient_reaches_a_hidden_key(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    grads = subject.attend(case.q, case.k, case.v, attn_mask=whole(keep, case), cotangent=cotangent).grads
    for name in ("k", "v"):
        leaked = grads[name][:, :, ~keep]
        yield identical(leaked, torch.zeros_like(leaked), f"gradient of {name} at hidden keys")


@requirement("MASK-NAN-1", of_attention.SMALL)
def nan_in_hidden_slots_stays_there(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, 3)  # not the last, which is the query where one token carries all three
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    for bad in (float("nan"), float("inf")):
        k, v = (torch.where(keep[:, None], x, bad) for x in (case.k, case.v))
        yield close(subject.attend(case.q, k, case.v, attn_mask=mask).out, want, f"out with {bad} in hidden keys")
        yield close(subject.attend(case.q, case.k, v, attn_mask=mask).out, want, f"out with {bad} in hidden values")


@requirement("MASK-WEIGHTS-1", of_attention.SMALL)
def the_returned_weights_are_masked(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    reply = subject.attend(case.q, case.k, case.v, attn_mask=whole(keep, case), need_weights=True)
    assert reply.weights is not None
    if reply.weights.ndim == 3:
        raise Unsupported("weights per head (declares returned-weights: averaged)")
    weights = reply.weights.detach().double()
    hidden = weights[..., ~keep]
    yield identical(hidden, torch.zeros_like(hidden), "returned weights at hidden keys")
    yield close(weights @ case.v, reply.out, "the returned weights times V, against out")


@requirement("MASK-HALF-1", of_attention.SMALL)
def half_precision_hides_as_well(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    for dtype in (torch.bfloat16, torch.float16):
        c = case.but(dtype=dtype)
        mask = whole(keep, c)
        want = subject.attend(c.q, c.k, c.v, attn_mask=mask).out
        yield holds(bool(want.isfinite().all()), f"out under a mask in {dtype} is not finite", "nonfinite")
        got = subject.attend(c.q, poisoned(c.k, keep, 100), poisoned(c.v, keep, 1e4), attn_mask=mask).out
        yield identical(got, want, f"out in {dtype} with ±100 in hidden keys, ±1e4 in hidden values")


# -- whose mask it is


def each_gets_its_own(subject: Subject, case: Case, axis: int, what: str) -> Evidence:
    """A mask differs along one axis: each slice of the output is what its slice of the mask makes of it."""
    shape = [1, 1, 1, case.S]
    shape[axis] = (case.B, case.H, case.L)[axis]
    mask = some(case, *shape)
    together = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask, case)).out
    for i in range(shape[axis]):
        alone = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask.narrow(axis, i, 1), case)).out
        what_it_is = f"out of {what} {i}, against its mask given to all,"
        yield close(together.narrow(axis, i, 1), alone.narrow(axis, i, 1), what_it_is)


@requirement("MASK-QUERY-1", stimuli.ONE_SQUARE)
def each_query_gets_its_own_row_of_the_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 2, "query")


@requirement("MASK-HEAD-1", of_attention.SMALL, of_attention.BATCH_IS_H)
def each_head_gets_its_own_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 1, "head")


@requirement("MASK-SAMPLE-1", of_attention.SMALL, of_attention.BATCH_IS_H)
def each_sample_gets_its_own_mask(subject: Subject, case: Case) -> Evidence:
    yield from each_gets_its_own(subject, case, 0, "sample")


@requirement("MASK-BROADCAST-1", of_attention.BATCH_IS_H)
def masks_broadcast_from_the_right(subject: Subject, case: Case) -> Evidence:
    for shape in lower_shapes(case):
        mask = some(case, *shape)
        want = subject.attend(case.q, case.k, case.v, attn_mask=whole(mask, case)).out
        got = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
        yield close(got, want, f"out with a mask of shape {shape}, against the same mask in full,")


@requirement("MASK-PADDING-1", stimuli.PADDED)
def padding_is_hidden_in_each_sample(subject: Subject, case: Case) -> Evidence:
    hidden = ((-1, -2), (0,), (), (1, 3))  # at the end, at the start, nowhere, between
    key_mask = torch.stack([keeping(case, *hidden[b % len(hidden)]) for b in range(case.B)])
    together = subject.attend(case.q, case.k, case.v, key_mask=key_mask).out
    for b in range(case.B):
        keep = key_mask[b]
        alone = subject.attend(case.q[b : b + 1], case.k[b : b + 1, :, keep], case.v[b : b + 1, :, keep]).out
        yield close(together[b : b + 1], alone, f"out of sample {b}, against it alone without its padding,")


@requirement("MASK-AND-1", stimuli.ONE_SQUARE)
def masks_are_joined_by_and(subject: Subject, case: Case) -> Evidence:
    masks = subject.choice("masks")
    explicit = some(case, case.B, case.H if masks == "any" else 1, case.L, case.S)
    key_mask = some(case, case.B, case.S).clone()
    explicit[..., 0] = key_mask[:, 0] = True  # the first query sees itself
    triangle = causal(case.L, case.S).to(case.device)
    padding = key_mask[:, None, None]
    for given, both in (
        ({"attn_mask": explicit, "key_mask": key_mask}, explicit & padding),
        ({"attn_mask": explicit, "causal": True}, explicit & triangle),
        ({"key_mask": key_mask, "causal": True}, whole(padding & triangle, case)),
        ({"attn_mask": explicit, "key_mask": key_mask, "causal": True}, explicit & padding & triangle),
    ):
        if masks == "keys" and {"attn_mask", "causal"} <= set(given):
            continue  # a mask of keys alone hides nothing from single queries
        options: dict[str, Any] = given
        want = subject.attend(case.q, case.k, case.v, attn_mask=both).out
        got = subject.attend(case.q, case.k, case.v, **options).out
        yield close(got, want, f"out with {' and '.join(given)}, against the mask that allows what all allow,")


@requirement("MASK-LONG-1", stimuli.LONG_SQUARE)
def masks_hold_in_long_sequences(subject: Subject, case: Case) -> Evidence:
    """Equal scores (q = 0): the output is the mean of the values that the mask allows."""
    q = torch.zeros_like(case.q)
    explicit, triangle = some(case, 1, 1, case.L, case.S), causal(case.L, case.S).to(case.device)
    options: tuple[tuple[str, dict[str, Any], Tensor], ...] = (
        ("a mask", {"attn_mask": whole(explicit, case)}, explicit),
        ("causality", {"causal": True}, triangle),
    )
    for name, given, mask in options:
        weights = mask.to(case.v) / mask.sum(dim=-1, keepdim=True)
        out = subject.attend(q, case.k, case.v, **given).out
        yield close(out, weights @ case.v, f"out with q = 0 under {name}, against the mean of the allowed values,")


@requirement("MASK-IMMUT-1", stimuli.ONE_SQUARE)
def masks_are_left_as_they_were(subject: Subject, case: Case) -> Evidence:
    shape = (case.B, case.H, case.L, case.S)
    padding = keeping(case, -1).expand(case.B, -1)
    given = {"attn_mask": some(case, *shape), "key_mask": padding, "attn_bias": case.draw("bias", *shape)}
    calls: dict[str, dict[str, Any]] = {}
    for name, x in given.items():
        calls |= {name: {name: x}, f"{name} and causal": {name: x, "causal": True}}
    for name, reply in replies(subject, case, calls):
        changed = [x for x in reply.changed if x in given]
        yield holds(not changed, f"modified in place: {', '.join(changed)}, when given {name}")


@requirement("MASK-STRIDE-1", of_attention.SMALL)
def the_layout_of_a_mask_does_not_matter(subject: Subject, case: Case) -> Evidence:
    mask = some(case, case.B, case.H, case.L, case.S)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    for layout in ("transposed", "offset"):
        out = subject.attend(case.q, case.k, case.v, attn_mask=mask, layout=layout).out
        yield close(out, want, f"out with a {layout} mask")
    q, k, v, mask = (x[:1].expand_as(x) for x in (case.q, case.k, case.v, mask))
    want = subject.attend(q, k, v, attn_mask=mask).out
    yield close(subject.attend(q, k, v, attn_mask=mask, layout="expanded").out, want, "out with an expanded mask")


# -- causality


@requirement("MASK-DEFAULT-1", stimuli.ONE_SQUARE, of_attention.SMALL)
def without_a_mask_nothing_is_hidden(subject: Subject, case: Case) -> Evidence:
    out = subject.attend(torch.zeros_like(case.q), case.k, case.v).out
    yield close(out, case.v.mean(dim=2, keepdim=True).expand_as(out), "out with q = 0, against the mean of the values,")


def seen(subject: Subject, case: Case, **options: Any) -> Tensor:
    """Return which keys (B, H, L, S) have a weight where all scores are equal (q = 0)."""
    return read_weights(subject, torch.zeros_like(case.q), case.k, **options) > 1e-3


@requirement("MASK-CAUSAL-1", stimuli.SQUARE)
def a_token_sees_itself_and_all_before(subject: Subject, case: Case) -> Evidence:
    got, want = seen(subject, case, causal=True), causal(case.L, case.S).to(case.device)
    wrong = (got != want).flatten(0, 1).any(dim=0).nonzero()
    i, j = wrong[0].tolist() if len(wrong) else (0, 0)
    yield holds(not len(wrong), f"query {i} {'does not see' if j <= i else 'sees'} key {j}")
    t = case.L - 2
    prefix = subject.attend(case.q[:, :, :t], case.k[:, :, :t], case.v[:, :, :t], causal=True).out
    out = subject.attend(case.q, case.k, case.v, causal=True).out
    yield close(out[:, :, :t], prefix, f"out of the first {t} tokens, against the same without the later ones,")


@requirement("MASK-CAUSAL-2", of_attention.READABLE)
def the_diagonal_starts_from_one_corner(subject: Subject, case: Case) -> Evidence:
    corners = {"top-left", "bottom-right"}
    for c in (case, case.but(L=case.S, S=case.L)):
        got = seen(subject, c, causal=True)
        for corner in tuple(corners):
            want = causal(c.L, c.S, 0 if corner == "top-left" else c.S - c.L).to(case.device)
            rows = want.any(dim=-1)  # an empty row may be anything
            if bool((got[:, :, rows] != want[rows]).any()):
                corners.remove(corner)
        which = "" if corners else ", nor the other corner after L and S changed places"
        yield holds(bool(corners), f"L = {c.L}, S = {c.S}: neither top-left nor bottom-right{which}")
    (choice,) = corners
    yield Observed("causal-alignment", choice)
    declared = subject.declares.get("causal-alignment", choice)
    yield holds(choice == declared, f"declared {declared}, but the diagonal is {choice}")


@requirement("MASK-CAUSAL-3", stimuli.ONE_SQUARE)
def the_flag_gives_what_the_triangle_gives(subject: Subject, case: Case) -> Evidence:
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    triangle = whole(causal(case.L, case.S).to(case.device), case)
    flag = subject.attend(case.q, case.k, case.v, causal=True, cotangent=cotangent)
    mask = subject.attend(case.q, case.k, case.v, attn_mask=triangle, cotangent=cotangent)
    yield close(flag.out, mask.out, "out with causal, against the triangular mask,")
    for name in "qkv":
        yield close(flag.grads[name], mask.grads[name], f"gradient of {name} with causal, against the triangular mask,")


@requirement("MASK-CAUSAL-4", stimuli.SQUARE)
def later_tokens_stay_hidden_whatever_the_scores(subject: Subject, case: Case) -> Evidence:
    t = case.L - 2
    past = torch.arange(case.S, device=case.device) < t
    want = subject.attend(case.q, case.k, case.v, causal=True).out[:, :, :t]
    got = subject.attend(case.q, poisoned(case.k, past, 1e4), poisoned(case.v, past, 1e8), causal=True).out[:, :, :t]
    yield close(got, want, f"out of the first {t} tokens, causal, with ±1e4 in later keys and ±1e8 in later values")
    q, k = low_scores(case, torch.ones_like(past))
    want = subject.attend(q, torch.zeros_like(k), case.v, causal=True).out
    got = subject.attend(q, k, case.v, causal=True).out
    yield close(got, want, "out, causal, where all scores are -1e5, against scores of 0,")


# -- queries that may attend to nothing


@requirement("MASK-EMPTY-1", of_attention.SMALL)
def an_empty_row_gives_what_is_declared(subject: Subject, case: Case) -> Evidence:
    mask, empty = with_empty_rows(case)
    out = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    choice = choice_made(out, case, empty)
    row = ", ".join(f"{x:.4g}" for x in out[empty][0, :3].tolist())
    yield holds(choice != "something else", f"out without allowed keys is neither zeros, NaN nor the mean: {row}, …")
    yield Observed("fully-masked-row", choice)
    declared = subject.declares.get("fully-masked-row", choice)
    yield holds(choice == declared, f"out without allowed keys is {choice}, declared {declared}")


@requirement("MASK-EMPTY-2", of_attention.SMALL)
def an_empty_row_is_the_same_in_every_mode(subject: Subject, case: Case) -> Evidence:
    mask, empty = with_empty_rows(case)
    padding = torch.ones(case.B, case.S, dtype=torch.bool, device=case.device)
    padding[0] = False
    calls: dict[str, dict[str, Any]] = {
        "gradients recorded": {"attn_mask": mask, "mode": "tracked"},
        "no_grad": {"attn_mask": mask, "mode": "no_grad"},
        "inference_mode": {"attn_mask": mask, "mode": "inference_mode"},
        "training": {"attn_mask": mask, "training": True},
        "weights returned": {"attn_mask": mask, "need_weights": True},
        "weights returned, no_grad": {"attn_mask": mask, "need_weights": True, "mode": "no_grad"},
        "key_mask": {"key_mask": padding},
        "key_mask, no_grad": {"key_mask": padding, "mode": "no_grad"},
        "key_mask, weights returned": {"key_mask": padding, "need_weights": True},
    }
    want = choice_made(subject.attend(case.q, case.k, case.v, attn_mask=mask).out, case, empty)
    whole_sample = torch.zeros_like(empty)
    whole_sample[0] = True
    for name, reply in replies(subject, case, calls):
        got = choice_made(reply.out, case, whole_sample if name.startswith("key_mask") else empty)
        yield holds(got == want, f"out without allowed keys is {want}, but with {name} {got}")


@requirement("MASK-EMPTY-3", of_attention.SMALL)
def an_empty_row_does_not_change_others(subject: Subject, case: Case) -> Evidence:
    mask, empty = with_empty_rows(case)
    without = mask | empty[..., None]
    got = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    want = subject.attend(case.q, case.k, case.v, attn_mask=without).out
    yield close(got[~empty], want[~empty], "out of queries beside one without allowed keys")


@requirement("MASK-EMPTY-4", of_attention.SMALL)
def gradients_stay_finite_beside_an_empty_row(subject: Subject, case: Case) -> Evidence:
    mask, empty = with_empty_rows(case)
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    grads = subject.attend(case.q, case.k, case.v, attn_mask=mask, cotangent=cotangent).grads
    for name in "qkv":
        yield holds(bool(grads[name].isfinite().all()), f"gradient of {name} is not finite", "nonfinite")
    yield identical(grads["q"][empty], torch.zeros_like(grads["q"][empty]), "gradient of a query without allowed keys")


@requirement("MASK-EMPTY-5", of_attention.SMALL)
def a_row_emptied_by_a_bias_is_like_one_emptied_by_a_mask(subject: Subject, case: Case) -> Evidence:
    mask, empty = with_empty_rows(case)
    bias = torch.zeros(mask.shape, dtype=case.dtype, device=case.device).masked_fill(~mask, float("-inf"))
    want = choice_made(subject.attend(case.q, case.k, case.v, attn_mask=mask).out, case, empty)
    got = choice_made(subject.attend(case.q, case.k, case.v, attn_bias=bias).out, case, empty)
    yield holds(got == want, f"out without allowed keys is {want} under a mask, {got} under a bias of -inf")


# -- biases


def moved_odds(subject: Subject, case: Case, bias: Tensor) -> Tensor:
    """Return by how much a bias moves the log odds of every key against the first: (B, H, L, S - 1)."""
    plain, biased = (log_odds(read_weights(subject, case.q, case.k, **given)) for given in ({}, {"attn_bias": bias}))
    return biased - plain


@requirement("MASK-BIAS-1", of_attention.READABLE)
def a_bias_moves_the_log_odds_by_itself(subject: Subject, case: Case) -> Evidence:
    bias = whole(case.draw("bias", case.S), case)
    got = moved_odds(subject, case, bias)
    yield close(got, bias[..., 1:] - bias[..., :1], "log odds moved by a bias, against the bias")


@requirement("MASK-BIAS-4", of_attention.BATCH_IS_H)
def a_bias_belongs_to_its_sample_head_and_query(subject: Subject, case: Case) -> Evidence:
    bias = case.draw("bias", case.B, case.H, case.L, case.S)
    got = moved_odds(subject, case, bias)
    yield close(got, bias[..., 1:] - bias[..., :1], "log odds moved by a bias that differs everywhere, against it")
    for shape in lower_shapes(case):
        bias = case.draw("bias", *shape)
        want = subject.attend(case.q, case.k, case.v, attn_bias=whole(bias, case)).out
        got = subject.attend(case.q, case.k, case.v, attn_bias=bias).out
        yield close(got, want, f"out with a bias of shape {shape}, against the same bias in full,")


@requirement("MASK-BIAS-2", of_attention.SMALL)
def a_bias_of_minus_infinity_hides(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    bias = whole(torch.zeros(case.S, dtype=case.dtype, device=case.device).masked_fill(~keep, float("-inf")), case)
    k, v = poisoned(case.k, keep, 1e4), poisoned(case.v, keep, 1e8)
    want = subject.attend(case.q, case.k[:, :, keep], case.v[:, :, keep]).out
    got = subject.attend(case.q, k, v, attn_bias=bias).out
    yield close(got, want, "out with ±1e4 in keys under a bias of -inf, against the same without them,")
    q, k = low_scores(case, keep)
    want = subject.attend(q, k[:, :, keep], case.v[:, :, keep]).out
    got = subject.attend(q, k, case.v, attn_bias=bias).out
    yield close(got, want, "out under a bias of -inf, all other scores -1e5, against the same without the hidden keys,")


@requirement("MASK-BIAS-3", of_attention.SMALL)
def gradients_reach_the_bias(subject: Subject, case: Case) -> Evidence:
    bias = case.draw("bias", case.B, case.H, case.L, case.S)
    step = case.draw("direction", *bias.shape)
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)

    def along(t: float) -> Tensor:
        return (subject.attend(case.q, case.k, case.v, attn_bias=bias + t * step).out * cotangent).sum()

    slope = (8 * (along(0.01) - along(-0.01)) - (along(0.02) - along(-0.02))) / 0.12
    source = evidence.DIFFERENCES_SOURCE
    for wrt, what in (("qkv", ""), ("", ", which alone needs one,")):
        grad = subject.attend(case.q, case.k, case.v, attn_bias=bias, cotangent=cotangent, wrt=wrt).grads["attn_bias"]
        what = f"the derivative along a direction of the bias{what} against differences:"
        unit = max(float(grad.norm()), float(slope.abs()))
        yield close((grad * step).sum(), slope, what, bound=evidence.DIFFERENCES, source=source, unit=unit)


# -- everything at once


@requirement("MASK-ORACLE-1", stimuli.ONE_SQUARE, of_attention.SMALL)
def masked_attention_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    mask, padding = some(case, case.B, case.H, case.L, case.S).clone(), some(case, case.B, case.S).clone()
    mask[..., 0] = padding[:, 0] = True
    bias = case.draw("bias", *mask.shape)
    cotangent = case.draw("cotangent", case.B, case.H, case.L, case.F)
    square = case.L == case.S
    reply = subject.attend(
        case.q, case.k, case.v, attn_mask=mask, key_mask=padding, attn_bias=bias, causal=square, cotangent=cotangent
    )
    joined = mask & padding[:, None, None]
    if square:
        joined = joined & causal(case.L, case.S).to(case.device)
    want, grads = case.once("masked oracle", lambda: oracle(case, cotangent, joined, bias))
    yield close(reply.out, want)
    for name, grad in grads.items():
        unit = max(float(grad.abs().max()), 1e-3 * float(cotangent.abs().max()))
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit)
