"""Checks of the chapter spec/masks.md: what a mask does."""

from typing import Any

import torch

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks.scores import read_weights
from attnconf.conformance.chapters.masks import stimuli
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import keeping, low_scores, poisoned, some, whole
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Unsupported, close, holds, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

IN_FLOAT32: dict[str, Any] = {"bound": 1e-5, "source": "1e-5·max|want|: float32 is enough"}


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


@requirement("MASK-DELETE-1", of_attention.DISTINCT, of_attention.MASKED_ONES)
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
    for dtype, how in ((torch.float64, {}), (torch.float32, IN_FLOAT32)):
        here = case.but(dtype=dtype)
        keep = keeping(here, 1, -1)
        k, v = poisoned(here.k, keep, 100), poisoned(here.v, keep, 1e8)
        mask = whole(keep, here)
        want = subject.attend(here.q, here.k, here.v, attn_mask=mask).out
        got = subject.attend(here.q, k, v, attn_mask=mask).out
        yield close(got, want, "out with ±100 in hidden keys and ±1e8 in hidden values", **how)


@requirement("MASK-ZERO-1", of_attention.SMALL)
def a_hidden_value_does_not_change_a_bit(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, poisoned(case.v, keep, 0.0), attn_mask=mask).out
    got = subject.attend(case.q, case.k, poisoned(case.v, keep, 1e30), attn_mask=mask).out
    yield identical(got, want, "out with ±1e30 in hidden values, against 0 there,")


@requirement("MASK-SHIFT-1", of_attention.SMALL)
def a_hidden_key_stays_hidden_whatever_the_scores(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    k, v = poisoned(case.k, keep, 1e4), poisoned(case.v, keep, 1e8)
    got = subject.attend(case.q, k, v, attn_mask=mask).out
    yield close(got, want, "out with ±1e4 in hidden keys and ±1e8 in hidden values")
    q, k = low_scores(case, keep)
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
        largest = float(grads[name].abs().max())
        yield close(leaked, torch.zeros_like(leaked), f"gradient of {name} at hidden keys", unit=largest)


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
