"""Checks of the chapter spec/rotary.md: either component, whatever it computes; the rotation."""

import torch
from torch import Tensor, einsum

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import BASES, FEW, Evidence, coarse, right_or_refused
from attnconf.conformance.chapters.rotary.stimuli import (
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
    turned,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Observed, close, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ROPE-ODD-1", stimuli.ONE)
def an_odd_width_is_refused(subject: Subject, case: Case) -> Evidence:
    for width in (5, 7):
        x = case.draw("odd", case.B, case.H, case.L, width)
        yield refused(subject, case, f"{width} features, which are no pairs", x)


@requirement("ROPE-LINEAR-1", stimuli.USUAL)
def the_output_is_linear_in_the_input(subject: Subject, case: Case) -> Evidence:
    x, y = drawn(case), case.draw("y", case.B, case.H, case.L, case.E)
    got = rotated(subject, case, 2 * x - 3 * y)
    yield close(got, 2 * rotated(subject, case, x) - 3 * rotated(subject, case, y), "out of 2x - 3y")


@requirement("ROPE-HEAD-1", stimuli.USUAL, stimuli.BATCHES)
def heads_turn_alike(subject: Subject, case: Case) -> Evidence:
    out = rotated(subject, case, drawn(case)[:, :1].expand(-1, case.H, -1, -1).contiguous())
    yield close(out, out[:, :1].expand_as(out), "out where all heads are the same")


@requirement("ROPE-BATCH-1", stimuli.USUAL, stimuli.BATCHES, any_weights=True)
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
