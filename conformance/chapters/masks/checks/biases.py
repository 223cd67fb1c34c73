"""Checks of the chapter spec/masks.md: biases."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli as of_attention
from attnconf.conformance.chapters.attention.checks.scores import log_odds, read_weights
from attnconf.conformance.chapters.attention.checks.together import of_angles
from attnconf.conformance.chapters.masks.checks.shared import Evidence
from attnconf.conformance.chapters.masks.stimuli import keeping, low_scores, lower_shapes, poisoned, whole
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

LOW = 200  # minus the scores beside which a finite bias hides nothing


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
    k, v = poisoned(case.k, keep, 100), poisoned(case.v, keep, 1e8)
    want = subject.attend(case.q, case.k[:, :, keep], case.v[:, :, keep]).out
    got = subject.attend(case.q, k, v, attn_bias=bias).out
    what = "out with ±100 in keys under a bias of -inf, against the same without them,"
    yield close(got, want, what, **of_angles(subject, case))  # those behind a hidden key move up
    q, k = low_scores(case, keep, LOW)
    want = subject.attend(q, k[:, :, keep], case.v[:, :, keep]).out
    got = subject.attend(q, k, case.v, attn_bias=bias).out
    what = f"out under a bias of -inf, all other scores -{LOW}, against the same without the hidden keys,"
    yield close(got, want, what, **of_angles(subject, case, LOW))


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
