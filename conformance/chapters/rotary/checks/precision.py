"""Checks of the chapter spec/rotary.md: precision, and what was asked before."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import FEW, Evidence, right_or_refused
from attnconf.conformance.chapters.rotary.stimuli import choice, drawn, frequencies, rotated, to_pairs, turned
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

# Errors of angles computed in float32, in radians: they grow with the position.
FLOAT32_SOURCE = "float32 angles: (1.2e-7·p + 2^-22)·norm"
HALF_SOURCE = "two steps of the dtype, and float32 angles: (2·eps + 1.2e-7·p)·norm"


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


@requirement("ROPE-MAX-1", stimuli.ONE, out_of_range=True)
def beyond_the_longest_sequence_it_is_right_or_an_error(subject: Subject, case: Case) -> Evidence:
    x = case.draw("longer", case.B, case.H, 11, case.E)
    want = rotated(subject, case, x)
    yield close(rotated(subject, case, x, max_len=11), want, "out for as many tokens as max_len")
    yield right_or_refused(subject, case, x, want, "out for 11 tokens with max_len 6", max_len=6)
