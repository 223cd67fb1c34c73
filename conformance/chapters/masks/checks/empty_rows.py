"""Checks of the chapter spec/masks.md: queries that may attend to nothing."""

from typing import Any

import torch

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import choice_made, replies, with_empty_rows
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Observed, close, holds, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


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
    want = subject.attend(case.q, case.k, case.v, attn_mask=without).out
    try:
        got = subject.attend(case.q, case.k, case.v, attn_mask=mask).out
    except Failure as failure:
        if failure.reason != "raised":
            raise
        got = want  # refused with an error
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
