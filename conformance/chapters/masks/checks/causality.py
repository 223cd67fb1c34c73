"""Checks of the chapter spec/masks.md: causality."""

from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks.scores import read_weights
from attnconf.conformance.chapters.masks import stimuli
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import low_scores, poisoned, whole
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Observed, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.masks import causal


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
    t = case.L - 2
    prefix = subject.attend(case.q[:, :, :t], case.k[:, :, :t], case.v[:, :, :t], causal=True).out
    out = subject.attend(case.q, case.k, case.v, causal=True).out  # at q = 0 many mistakes look alike
    wrong = (got != want).flatten(0, 1).any(dim=0).nonzero()
    i, j = wrong[0].tolist() if len(wrong) else (0, 0)
    yield holds(not len(wrong), f"query {i} {'does not see' if j <= i else 'sees'} key {j}")
    yield close(out[:, :, :t], prefix, f"out of the first {t} tokens, against the same without the later ones,")


@requirement("MASK-CAUSAL-2", of_attention.READABLE)
def the_diagonal_starts_from_one_corner(subject: Subject, case: Case) -> Evidence:
    corners = {"top-left", "bottom-right"}
    for c in (case, case.but(L=case.S, S=case.L)):
        try:
            got = seen(subject, c, causal=True)
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield holds(True, "refused with an error")
            return
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
