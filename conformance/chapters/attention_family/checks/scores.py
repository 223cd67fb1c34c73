"""Checks of the chapter spec/attention_family.md: what is done to the scores before they are weighed."""

import math
from collections.abc import Iterator

import torch

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks.scores import log_odds, read_weights
from attnconf.conformance.chapters.masks.stimuli import keeping, whole
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]

CAPS = (0.8, 5.0)  # one that bends most scores, and one that bends the largest


@requirement("FAM-SCALE-1", of_attention.READABLE)
def a_scale_that_is_given_replaces_the_root(subject: Subject, case: Case) -> Evidence:
    root = math.sqrt(case.E)
    for scale in (0.3, 1.0):
        want = subject.attend(case.q * (scale * root), case.k, case.v).out
        got = subject.attend(case.q, case.k, case.v, scale=scale).out
        yield close(got, want, f"out with scale {scale}, against queries {scale}·√E times as long,")


@requirement("FAM-CAP-1", of_attention.READABLE)
def scores_are_bent_by_the_hyperbolic_tangent(subject: Subject, case: Case) -> Evidence:
    scores = torch.einsum("...le,...se->...ls", case.q, case.k) / math.sqrt(case.E)
    for cap in CAPS:
        bent = cap * torch.tanh(scores / cap)
        got = log_odds(read_weights(subject, case.q, case.k, softcap=cap))
        yield close(
            got, bent[..., 1:] - bent[..., :1], f"log odds of the weights with softcap {cap}, against c·tanh(s/c),"
        )


@requirement("FAM-CAP-2", of_attention.SMALL)
def a_hidden_key_stays_hidden_under_a_cap(subject: Subject, case: Case) -> Evidence:
    keep = keeping(case, 1, -1)
    mask = whole(keep, case)
    want = subject.attend(case.q, case.k, case.v, attn_mask=mask, softcap=CAPS[0]).out
    other = torch.where(keep[:, None], case.v, 1e4 * case.draw("other values", *case.v.shape))
    got = subject.attend(case.q, case.k, other, attn_mask=mask, softcap=CAPS[0]).out
    yield close(got, want, "out with other values under the mask")


@requirement("FAM-CAP-3", of_attention.READABLE)
def a_bias_is_added_to_what_is_capped(subject: Subject, case: Case) -> Evidence:
    bias = whole(3 * case.draw("bias", case.S), case)
    plain, biased = (
        log_odds(read_weights(subject, case.q, case.k, softcap=CAPS[0], **given)) for given in ({}, {"attn_bias": bias})
    )
    want = (bias[..., 1:] - bias[..., :1]).expand_as(plain)
    yield close(biased - plain, want, "log odds moved by a bias under a cap, against the bias,")
