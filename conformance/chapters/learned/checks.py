"""Checks of the chapter spec/learned.md.

Most look at the encoding alone, as zeros are encoded: that is the same whether x is added to it or not.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import LearnedConfig
from attnconf.conformance.chapters.learned import stimuli
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close, holds, identical
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]
P = 0.25  # of dropout
TABLE = "table.weight"


# -- asking


def offset(subject: Subject) -> int:
    """Return the declared number of rows before that of position 0."""
    return int(subject.choice("learned-offset"))


def added(subject: Subject) -> bool:
    """Return whether x is added, as declared."""
    return subject.choice("learned-output") == "add"


def positions_of(case: Case) -> int:
    """Return how many positions the table has rows for: S, and enough for those that are given."""
    return max(case.positions, case.L + 3)


def table_of(subject: Subject, case: Case, rows: int = 0) -> Tensor:
    """Return a table for S positions, or for ``rows``, with the rows before them that the offset asks for."""
    return case.draw("table", (rows or positions_of(case)) + offset(subject), case.features)


def call_on(
    subject: Subject, case: Case, x: Tensor, positions: Tensor | None = None, table: Tensor | None = None,
    changes: dict[str, Any] | None = None,
) -> Call:  # fmt: skip
    """Return the call of the component on x; ``changes`` are to the configuration."""
    table = table_of(subject, case) if table is None else table
    config = LearnedConfig(dim=x.shape[2], max_len=len(table) - offset(subject), **(changes or {}))
    inputs = {"x": x} if positions is None else {"x": x, "positions": positions}
    return Call(subject.component, config, {TABLE: table}, inputs, tuple(x.shape))


def ask(
    subject: Subject, case: Case, x: Tensor, positions: Tensor | None = None, table: Tensor | None = None,
    changes: dict[str, Any] | None = None, **options: Any,
) -> Reply:  # fmt: skip
    """Return the component's reply to x; options as in Request."""
    return subject.call(call_on(subject, case, x, positions, table, changes).asked(**options))


def zeros(case: Case, length: int | None = None) -> Tensor:
    return torch.zeros(case.B, length or case.L, case.features, dtype=case.dtype, device=case.device)


def random(case: Case, what: str = "x") -> Tensor:
    return case.draw(what, case.B, case.L, case.features)


def slope(subject: Subject, case: Case, positions: Tensor | None = None, table: Tensor | None = None) -> Tensor:
    """Return the gradient of the table, without the rows before that of position 0 (S, dim)."""
    cotangent = random(case, "cotangent")
    reply = ask(subject, case, zeros(case), positions, table, cotangent=cotangent, wrt=(TABLE,))
    return reply.grads[TABLE][offset(subject) :]


# -- the call


@requirement("LRN-HALF-1", stimuli.ONE)
def the_row_is_as_precise_as_its_dtype(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        c = case.but(dtype=dtype)
        x, rows = random(c), table_of(subject, c)[offset(subject) :][: c.L].double()
        want = x.double() + rows if added(subject) else rows.expand_as(x)
        eps, what = torch.finfo(dtype).eps, f"out in {str(dtype).removeprefix('torch.')}"
        yield close(ask(subject, c, x).out, want, what, bound=eps, source="two roundings of the dtype, of the sum")


# -- which row


@requirement("LRN-ROW-1", stimuli.USUAL, stimuli.EDGES)
def a_token_gets_the_row_of_its_position(subject: Subject, case: Case) -> Evidence:
    """With the identity for a table, the output is the number of the row."""
    size = positions_of(case) + offset(subject)
    one_hot = torch.eye(size, dtype=case.dtype, device=case.device)
    x = zeros(case).new_zeros(case.B, case.L, size)
    got = ask(subject, case, x, table=one_hot).out[0]
    want = one_hot[offset(subject) :][: case.L]
    yield close(got, want, "out of zeros with one-hot rows")
    got = ask(subject, case, zeros(case)).out[0]
    yield close(got, table_of(subject, case)[offset(subject) :][: case.L], "out of zeros, against the first rows,")


@requirement("LRN-BATCH-1", stimuli.USUAL, stimuli.BATCHES, any_weights=True)
def every_sample_gets_the_same_rows(subject: Subject, case: Case) -> Evidence:
    out = ask(subject, case, zeros(case)).out
    yield close(out, out[:1].expand_as(out), "out of a sample of zeros, against that of the first,")


@requirement("LRN-ADD-1", stimuli.USUAL, stimuli.EDGES, any_weights=True)
def the_input_is_added_once(subject: Subject, case: Case) -> Evidence:
    x = random(case)
    alone = ask(subject, case, zeros(case)).out
    for size in (1.0, 3.0):
        got = ask(subject, case, size * x).out - alone
        want = size * x if added(subject) else torch.zeros_like(x)
        yield close(got, want, "out less that of zeros, against x as it is declared to be added,", unit=size)


@requirement("LRN-LAST-1", stimuli.USUAL, stimuli.LONG)
def the_longest_sequence_uses_every_row(subject: Subject, case: Case) -> Evidence:
    table = table_of(subject, case, rows=case.L + 9)
    want = ask(subject, case, zeros(case), table=table).out
    got = ask(subject, case, zeros(case), table=table[: case.L + offset(subject)]).out
    yield close(got, want, f"out of {case.L} tokens with as many rows, against that with more,")
    rows = table[offset(subject) :][: case.L]
    yield close(got[0], rows, f"out of {case.L} zeros, against all {case.L} rows,")


@requirement("LRN-BEYOND-1", stimuli.USUAL, any_weights=True, out_of_range=True)
def a_longer_sequence_is_refused(subject: Subject, case: Case) -> Evidence:
    most = positions_of(case)
    for length in (most + 1, 2 * most + 3):
        yield refuses(subject, case, f"{length} tokens for {most} rows", zeros(case, length))


def refuses(subject: Subject, case: Case, what: str, x: Tensor, positions: Tensor | None = None) -> Measure:
    """Return a measure if the subject raises an exception."""
    try:
        ask(subject, case, x, positions)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


# -- gradients


@requirement("LRN-GRAD-1", stimuli.USUAL, stimuli.BATCHES)
def a_used_row_gets_the_gradients_of_its_tokens(subject: Subject, case: Case) -> Evidence:
    want = random(case, "cotangent").sum(dim=0)
    got = slope(subject, case)[: case.L]
    yield close(got, want, "gradient of the rows that were used, against the sum over the samples,")
    got = slope(subject, case, table=table_of(subject, case, rows=case.L))
    yield close(got, want, "gradient of all rows of a table that is used to its last, against the same sum,")


@requirement("LRN-GRAD-2", stimuli.USUAL)
def an_unused_row_gets_no_gradient(subject: Subject, case: Case) -> Evidence:
    rest = slope(subject, case)[case.L :]
    yield identical(rest, torch.zeros_like(rest), "gradient of the rows that were not used")


@requirement("LRN-GRAD-3", stimuli.USUAL)
def a_row_used_twice_gets_both_gradients(subject: Subject, case: Case) -> Evidence:
    positions = torch.arange(case.L, device=case.device) // 2
    summed = random(case, "cotangent").sum(dim=0)
    used = (case.L + 1) // 2
    want = torch.zeros(used, case.features, dtype=case.dtype, device=case.device).index_add(0, positions, summed)
    got = slope(subject, case, positions)[:used]
    yield close(got, want, f"gradient of the rows that were used, at positions {positions.tolist()},")


@requirement("LRN-GRAD-4", stimuli.USUAL, any_weights=True)
def the_gradient_reaches_the_input(subject: Subject, case: Case) -> Evidence:
    if not added(subject):
        yield Measure()  # the output does not depend on x
        return
    cotangent = random(case, "cotangent")
    got = ask(subject, case, random(case), cotangent=cotangent, wrt=("x",)).grads["x"]
    yield close(got, cotangent, "gradient of x")


# -- positions that are given


def shuffled(case: Case, what: str = "positions") -> Tensor:
    """Return positions (L,) in no order, of which the smallest is 3."""
    return case.permutation(what, case.L) + 3


@requirement("LRN-POS-1", stimuli.USUAL)
def given_positions_are_looked_up(subject: Subject, case: Case) -> Evidence:
    rows = table_of(subject, case)[offset(subject) :]
    reverse = torch.arange(len(rows) - 1, len(rows) - 1 - case.L, -1, device=case.device)
    for positions in (shuffled(case), reverse):
        got = ask(subject, case, zeros(case), positions).out[0]
        yield close(got, rows[positions], f"out of zeros at positions {positions.tolist()}, against those rows,")


@requirement("LRN-POS-2", stimuli.USUAL)
def every_sample_may_have_positions_of_its_own(subject: Subject, case: Case) -> Evidence:
    positions = torch.stack([shuffled(case, f"positions {b}") for b in range(case.B)])
    got = ask(subject, case, zeros(case), positions).out
    want = table_of(subject, case)[offset(subject) :][positions]
    yield close(got, want, "out of zeros at positions that differ between samples, against those rows,")


@requirement("LRN-POS-3", stimuli.USUAL, out_of_range=True)
def negative_positions_are_refused(subject: Subject, case: Case) -> Evidence:
    first = -offset(subject) - 1
    positions = torch.arange(first, first + case.L, device=case.device)
    yield refuses(subject, case, f"position {first}", zeros(case), positions)


@requirement("LRN-POS-4", stimuli.USUAL, out_of_range=True)
def positions_without_a_row_are_refused(subject: Subject, case: Case) -> Evidence:
    most = positions_of(case)
    for position in (most, most + 40):
        positions = shuffled(case)
        positions[-1] = position
        yield refuses(subject, case, f"position {position} for {most} rows", zeros(case), positions)


@requirement("LRN-POS-5", stimuli.USUAL)
def positions_that_are_not_whole_are_refused(subject: Subject, case: Case) -> Evidence:
    positions = shuffled(case).to(case.dtype) / 2
    yield refuses(subject, case, f"positions {positions.tolist()}", zeros(case), positions)


@requirement("LRN-POS-7", stimuli.ONE)
def earlier_positions_do_not_matter(subject: Subject, case: Case) -> Evidence:
    count = torch.arange(case.L, device=case.device)
    for what, earlier, later in (
        ("offset after none", None, count + 2),
        ("offset after others", count, count + 2),
        ("none after offset", count + 2, None),
    ):
        given = {"x": zeros(case)} if earlier is None else {"x": zeros(case), "positions": earlier}
        got = ask(subject, case, zeros(case), later, before=(given,)).out
        yield close(got, ask(subject, case, zeros(case), later).out, f"out with positions {what}")


@requirement("LRN-POS-6", stimuli.USUAL)
def positions_that_do_not_fit_are_refused(subject: Subject, case: Case) -> Evidence:
    for what, positions in (
        ("one position for all tokens", shuffled(case)[:1]),
        ("one position less than tokens", shuffled(case)[1:]),
        ("positions of one sample more", shuffled(case).expand(case.B + 1, case.L)),
    ):
        yield refuses(subject, case, what, zeros(case), positions)


# -- training


@requirement("LRN-DROP-1", stimuli.ONE, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    want = ask(subject, case, random(case)).out
    got = ask(subject, case, random(case), changes={"dropout": P}, seed=1).out
    yield close(got, want, "out in evaluation with dropout, against out without,")


@requirement("LRN-DROP-2", stimuli.WIDE, any_weights=True)
def training_drops_elements_of_the_output_at_the_given_rate(subject: Subject, case: Case) -> Evidence:
    case = case.but(B=max(2, case.B), L=max(101, case.L), features=max(66, case.features))  # a rate needs numbers
    evaluated = ask(subject, case, random(case)).out
    trained = ask(subject, case, random(case), changes={"dropout": P, "training": True}, seed=1).out
    gone = trained == 0
    if not bool(gone.any()):
        yield close(trained, evaluated, "out in training, where nothing is dropped, against out in evaluation,")
        return
    want = torch.where(gone, 0.0, evaluated / (1 - P))
    yield close(trained, want, "out in training, against 0 or out in evaluation divided by 1 - p,")
    rate, n = float(gone.double().mean()), gone.numel()
    slack = 5 * math.sqrt(P * (1 - P) / n)
    message = f"{100 * rate:.1f} % of {n} elements are dropped, want {100 * P:.0f} % ± {100 * slack:.1f} %"
    yield holds(abs(rate - P) <= slack, message)
    for axis, what in ((0, "sample"), (1, "token"), (2, "feature")):
        yield holds(bool((gone.double().std(dim=axis) > 0).any()), f"the same is dropped in every {what}")
