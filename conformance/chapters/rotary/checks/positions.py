"""Checks of the chapter spec/rotary.md: explicit positions."""

from typing import Any

import torch
from torch import Tensor, einsum

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import Evidence, right_or_refused
from attnconf.conformance.chapters.rotary.stimuli import drawn, operators, refused, rotated
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


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


@requirement("ROPE-POS-4", stimuli.ONE, out_of_range=True)
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
