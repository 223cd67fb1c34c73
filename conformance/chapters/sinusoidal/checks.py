"""Checks of the chapter spec/sinusoidal.md.

Most look at the encoding alone, as zeros are encoded: that is the same whether x is added to it or not.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.sinusoidal import stimuli
from attnconf.conformance.chapters.sinusoidal.stimuli import (
    DRIFT_SOURCE,
    EXPONENTS_SOURCE,
    HALF_SOURCE,
    angles,
    ask,
    axis_pairs,
    by_axis,
    cells,
    drift,
    drift_of_exponents,
    edges,
    factor,
    frequencies,
    near,
    offset,
    pairs,
    rows,
    start,
    turn,
    zeros,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.attention import attend

Evidence = Iterator[Measure]
P = 0.25  # of dropout
APART = 0.01  # what is more than this apart is told apart


# -- the call


# -- what the encoding is for


@requirement("SIN-ORDER-1", stimuli.USUAL)
def attention_tells_equal_tokens_apart_by_their_positions(subject: Subject, case: Case) -> Evidence:
    encoded = rows(subject, case)
    apart = torch.cdist(encoded, encoded) + 10 * torch.eye(case.L, device=case.device)
    yield holds(float(apart.min()) > APART, "two positions have the same encoding")
    alike = case.draw("token", case.features).expand(case.L, case.features) + encoded
    out = attend(alike, alike, alike)[0]
    moved = float((out - out[:1]).abs().max())
    yield holds(moved > APART, "attention over equal tokens gives the same at every position")
    yield close(rows(subject, case), encoded, "encoding in a second call")


@requirement("SIN-BATCH-1", stimuli.USUAL, stimuli.BATCHES, any_weights=True)
def every_sample_gets_the_same_positions(subject: Subject, case: Case) -> Evidence:
    out = ask(subject, case, zeros(case)).out
    yield close(out, out[:1].expand_as(out), "out of a sample of zeros, against that of the first,")


@requirement("SIN-ADD-1", stimuli.USUAL, stimuli.EDGES)
def the_input_is_added_once(subject: Subject, case: Case) -> Evidence:
    x = case.draw("x", case.B, case.L, case.features)
    alone = ask(subject, case, zeros(case)).out
    for size in (1.0, 3.0):
        got = ask(subject, case, size * x).out - alone
        want = factor(subject, case) * size * x
        yield close(got, want, "out less that of zeros, against x as it is declared to be added,", unit=size)


# -- the table


@requirement("SIN-PAIR-1", stimuli.USUAL, stimuli.EDGES)
def a_sine_and_its_cosine_have_one_angle(subject: Subject, case: Case) -> Evidence:
    sines, cosines = pairs(subject, rows(subject, case))
    yield close(sines.square() + cosines.square(), torch.ones_like(sines), "sin² + cos² of a pair")


@requirement("SIN-ZERO-1", stimuli.USUAL, stimuli.EDGES)
def positions_are_counted_from_zero(subject: Subject, case: Case) -> Evidence:
    encoded = rows(subject, case, length=max(case.L, offset(subject) + 1))
    yield start(subject, *pairs(subject, encoded), "token")


@requirement("SIN-SHIFT-1", stimuli.USUAL)
def a_step_turns_a_pair_by_the_same_angle_everywhere(subject: Subject, case: Case) -> Evidence:
    sines, cosines = pairs(subject, rows(subject, case))
    for step in (1, 2, case.L // 2):
        turns = turn((sines[:-step], cosines[:-step]), (sines[step:], cosines[step:]))
        what = f"(sin, cos) of the turn from p to p + {step}, against that from 0 to {step},"
        yield close(turns, turns[:1].expand_as(turns), what)


def one_step(subject: Subject, case: Case, base: float) -> Measure:
    """Return the measure of the turn from the first position to the second against the stated frequencies."""
    sines, cosines = pairs(subject, rows(subject, case, base=base))
    omega = frequencies(subject, case.features, base).to(case.device)
    got = turn((sines[0], cosines[0]), (sines[1], cosines[1]))
    want = torch.stack([omega.sin(), omega.cos()], dim=-1)
    return close(got, want, f"(sin, cos) of the turn of each pair from position 0 to 1, base {base:g},")


@requirement("SIN-FREQ-1", stimuli.USUAL)
def one_step_turns_a_pair_by_its_frequency(subject: Subject, case: Case) -> Evidence:
    yield one_step(subject, case, 10000.0)


@requirement("SIN-BASE-1", stimuli.USUAL)
def the_base_is_that_of_the_configuration(subject: Subject, case: Case) -> Evidence:
    for base in (100.0, 50.0):
        yield one_step(subject, case, base)


@requirement("SIN-ODD-1", stimuli.ODD)
def an_odd_width_works_or_is_refused(subject: Subject, case: Case) -> Evidence:
    plain = ("interleaved", "paper")
    if (subject.choice("sinusoidal-layout"), subject.choice("sinusoidal-frequencies")) != plain:
        yield Measure()  # no formula says what the other layouts do with a feature that has no partner
        return
    try:
        got = rows(subject, case)
    except Failure as failure:
        if failure.reason != "raised":
            raise
        yield Measure()
        return
    yield from near(subject, case, got, drift(case.L), DRIFT_SOURCE)


# -- lengths and precision


@requirement("SIN-MAXLEN-1", stimuli.USUAL)
def the_longest_sequence_is_encoded_like_any_other(subject: Subject, case: Case) -> Evidence:
    x = zeros(case)
    want, got = (ask(subject, case, x, changes={"max_len": n}).out for n in (case.L + 9, case.L))
    yield close(got, want, f"the encoding with max_len = {case.L}, against max_len = {case.L + 9},")


@requirement("SIN-BEYOND-1", stimuli.USUAL, out_of_range=True)
def a_longer_sequence_is_refused_or_right(subject: Subject, case: Case) -> Evidence:
    for length in (case.L + 1, 2 * case.L + 3):
        x = zeros(case, length)
        want = ask(subject, case, x).out
        try:
            got = ask(subject, case, x, changes={"max_len": case.L}).out
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield Measure()
            continue
        yield close(got, want, f"the encoding of {length} tokens with max_len = {case.L}, against a larger one,")


@requirement("SIN-LONG-1", stimuli.LONG)
def thousands_of_positions_keep_to_the_drift_of_float32(subject: Subject, case: Case) -> Evidence:
    yield from near(subject, case, rows(subject, case), drift(case.L), DRIFT_SOURCE)


@requirement("SIN-HALF-1", stimuli.HALF)
def angles_are_not_computed_in_half_precision(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        got = rows(subject, case.but(dtype=dtype))
        yield from near(subject, case, got, torch.finfo(dtype).eps + drift(case.L), HALF_SOURCE)


# -- positions that are given


def shuffled(case: Case, what: str = "positions") -> Tensor:
    """Return positions (L,) in no order, of which the smallest is 3."""
    return case.permutation(what, case.L) + 3


@requirement("SIN-POS-1", stimuli.USUAL)
def given_positions_are_encoded(subject: Subject, case: Case) -> Evidence:
    positions = shuffled(case)
    got = rows(subject, case, positions)
    want = rows(subject, case, length=case.L + 3)[positions]
    yield close(got, want, f"the encoding of positions {positions.tolist()}, against those rows of a longer sequence,")


@requirement("SIN-POS-2", stimuli.USUAL)
def every_sample_may_have_positions_of_its_own(subject: Subject, case: Case) -> Evidence:
    positions = torch.stack([shuffled(case, f"positions {b}") for b in range(case.B)])
    got = ask(subject, case, zeros(case), positions).out
    want = rows(subject, case, length=case.L + 3)[positions]
    yield close(got, want, "the encoding of positions that differ between samples, against those rows,")


def allowed(subject: Subject, case: Case, positions: Tensor) -> Tensor | None:
    """Return the encoding of positions that may be refused, None where an error was raised."""
    try:
        return rows(subject, case, positions)
    except Failure as failure:
        if failure.reason == "raised":
            return None
        raise


def from_the_first(subject: Subject, case: Case, encoded: Tensor) -> tuple[Tensor, Tensor]:
    """Return sines and cosines of the angles by which pairs are turned from the first token's."""
    first = tuple(part[:1] for part in pairs(subject, rows(subject, case)))
    sines, cosines = turn((first[0], first[1]), pairs(subject, encoded)).unbind(-1)
    return sines, cosines


@requirement("SIN-POS-3", stimuli.USUAL, out_of_range=True)
def negative_positions_are_refused_or_right(subject: Subject, case: Case) -> Evidence:
    got = allowed(subject, case, -shuffled(case))
    if got is None:
        yield Measure()
        return
    back, forth = (from_the_first(subject, case, encoded) for encoded in (got, rows(subject, case, shuffled(case))))
    yield close(back[0], -forth[0], "sines of -p, against those of p negated,")
    yield close(back[1], forth[1], "cosines of -p, against those of p,")


@requirement("SIN-POS-4", stimuli.USUAL)
def fractions_are_refused_or_right(subject: Subject, case: Case) -> Evidence:
    positions = shuffled(case).to(case.dtype) / 2
    got = allowed(subject, case, positions)
    if got is None:
        yield Measure()
        return
    (s, c), (sines, cosines) = (
        from_the_first(subject, case, encoded) for encoded in (got, rows(subject, case, shuffled(case)))
    )
    yield close(2 * s * c, sines, "2·sin·cos of p / 2, against the sine of p,")
    yield close(c.square() - s.square(), cosines, "cos² - sin² of p / 2, against the cosine of p,")


@requirement("SIN-POS-6", stimuli.ONE)
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


@requirement("SIN-POS-5", stimuli.USUAL)
def positions_that_do_not_fit_are_refused(subject: Subject, case: Case) -> Evidence:
    for what, positions in (
        ("one position for all tokens", shuffled(case)[:1]),
        ("one position less than tokens", shuffled(case)[1:]),
        ("positions of one sample more", shuffled(case).expand(case.B + 1, case.L)),
    ):
        yield refuses(subject, case, what, positions)


def refuses(subject: Subject, case: Case, what: str, positions: Tensor) -> Measure:
    """Return a measure if the subject raises an exception for these positions."""
    try:
        rows(subject, case, positions)
    except Failure as failure:
        if failure.reason == "raised":
            return Measure()
    raise Failure("property", f"{what}: no error was raised")


# -- training


@requirement("SIN-GRAD-1", stimuli.USUAL)
def the_gradient_reaches_the_input(subject: Subject, case: Case) -> Evidence:
    if subject.choice("sinusoidal-output") == "table":
        yield Measure()  # the output does not depend on x
        return
    x, cotangent = (case.draw(what, case.B, case.L, case.features) for what in ("x", "cotangent"))
    got = ask(subject, case, x, cotangent=cotangent, wrt=("x",)).grads["x"]
    yield close(got, factor(subject, case) * cotangent, "gradient of x")


@requirement("SIN-FIXED-1", stimuli.ONE)
def no_table_is_trained(subject: Subject, case: Case) -> Evidence:
    trained = ask(subject, case, case.draw("x", case.B, case.L, case.features)).trained
    yield holds(trained <= 1, f"out comes from a trainable parameter of {trained} numbers, which training changes")


@requirement("SIN-DROP-1", stimuli.ONE)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    x = case.draw("x", case.B, case.L, case.features)
    want = ask(subject, case, x).out
    got = ask(subject, case, x, changes={"dropout": P}, seed=1).out
    yield close(got, want, "out in evaluation with dropout, against out without,")


@requirement("SIN-DROP-2", stimuli.WIDE)
def training_drops_elements_of_the_output_at_the_given_rate(subject: Subject, case: Case) -> Evidence:
    case = case.but(B=max(2, case.B), L=max(101, case.L), features=max(66, case.features))  # a rate needs numbers
    x = case.draw("x", case.B, case.L, case.features)
    evaluated = ask(subject, case, x).out
    trained = ask(subject, case, x, changes={"dropout": P, "training": True}, seed=1).out
    there, gone = evaluated != 0, trained == 0
    yield holds(bool(there.any()), "out in evaluation is zero everywhere: nothing can be seen to be dropped")
    if not bool((gone & there).any()):
        yield close(trained, evaluated, "out in training, where nothing is dropped, against out in evaluation,")
        return
    want = torch.where(gone, 0.0, evaluated / (1 - P))
    yield close(trained, want, "out in training, against 0 or out in evaluation divided by 1 - p,")
    rate, n = float(gone[there].double().mean()), int(there.sum())
    slack = 5 * math.sqrt(P * (1 - P) / n)
    message = f"{100 * rate:.1f} % of {n} elements are dropped, want {100 * P:.0f} % ± {100 * slack:.1f} %"
    yield holds(abs(rate - P) <= slack, message)
    for axis, what in ((0, "sample"), (1, "token"), (2, "feature")):
        yield holds(bool((gone.double().std(dim=axis) > 0).any()), f"the same is dropped in every {what}")


# -- all of it


@requirement("SIN-ORACLE-1", stimuli.WIDE)
def outputs_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    x, cotangent = (case.draw(what, case.B, case.L, case.features) for what in ("x", "cotangent"))
    added = factor(subject, case)
    reply = ask(subject, case, x, cotangent=cotangent if added else None, wrt=("x",) if added else ())
    for b in range(case.B):
        got = reply.out[b] - added * x[b]
        yield from near(subject, case, got, drift_of_exponents(case.L), EXPONENTS_SOURCE)
    if added:
        yield close(reply.grads["x"], added * cotangent, "gradient of x")


# -- on a grid


@requirement("SIN-GRID-3", stimuli.GRID, stimuli.GRID_EDGES)
def each_half_of_the_features_belongs_to_one_axis(subject: Subject, case: Case) -> Evidence:
    columns, rows_ = by_axis(subject, cells(subject, case).out)
    yield close(columns, columns[:1].expand_as(columns), "features of a column, against those in the first row,")
    yield close(rows_, rows_[:, :1].expand_as(rows_), "features of a row, against those in the first column,")


@requirement("SIN-GRID-4", stimuli.GRID_EDGES, stimuli.GRID)
def sine_and_cosine_on_a_grid_have_one_angle(subject: Subject, case: Case) -> Evidence:
    for name, features in zip(("column", "row"), edges(subject, case), strict=True):
        sines, cosines = axis_pairs(subject, features)
        yield close(sines.square() + cosines.square(), torch.ones_like(sines), f"sin² + cos² of a pair of a {name}")


@requirement("SIN-GRID-5", stimuli.GRID)
def one_step_on_a_grid_turns_a_pair_by_its_frequency(subject: Subject, case: Case) -> Evidence:
    yield steps(subject, case, 10000.0)


def steps(subject: Subject, case: Case, base: float) -> Measure:
    """Return the measure of the turns from column to column against the stated frequencies."""
    sines, cosines = axis_pairs(subject, edges(subject, case, base=base)[0])
    omega = frequencies(subject, case.features // 2, base).to(case.device)
    got = turn((sines[:-1], cosines[:-1]), (sines[1:], cosines[1:]))
    want = torch.stack([omega.sin(), omega.cos()], dim=-1)
    return close(got, want.expand_as(got), f"(sin, cos) of the turn of each pair from column to column, base {base:g},")


@requirement("SIN-GRID-6", stimuli.GRID)
def the_base_of_a_grid_is_that_of_the_configuration(subject: Subject, case: Case) -> Evidence:
    for base in (100.0, 50.0):
        yield steps(subject, case, base)


@requirement("SIN-GRID-7", stimuli.GRID)
def rows_are_encoded_as_columns_are(subject: Subject, case: Case) -> Evidence:
    columns, rows_ = edges(subject, case)
    shorter = min(case.rows, case.columns)
    yield close(
        rows_[:shorter], columns[:shorter], "features of rows, against those of the columns of the same number,"
    )


@requirement("SIN-GRID-8", stimuli.GRID, stimuli.GRID_EDGES)
def cells_are_counted_from_zero(subject: Subject, case: Case) -> Evidence:
    least = offset(subject) + 1
    case = case.but(rows=max(case.rows, least), columns=max(case.columns, least))
    for name, features in zip(("column", "row"), edges(subject, case), strict=True):
        yield holds(bool((features != 0).any()), f"the features of every {name} are 0")
        yield start(subject, *axis_pairs(subject, features), name)


@requirement("SIN-GRID-9", stimuli.GRID_ONE)
def a_width_that_two_axes_cannot_share_is_refused_or_filled(subject: Subject, case: Case) -> Evidence:
    for dim in (6, 7, 9, 10):
        try:
            encoded = cells(subject, case, dim=dim).out.double().flatten(0, 1)
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield Measure()
            continue
        apart = torch.cdist(encoded, encoded) + 10 * torch.eye(len(encoded), device=case.device)
        yield holds(float(apart.min()) > APART, f"two cells have the same {dim} features")
        yield close(
            cells(subject, case, dim=dim).out.double().flatten(0, 1), encoded, f"{dim} features in a second call"
        )


@requirement("SIN-ORACLE-2", stimuli.GRID_WIDE)
def a_grid_is_that_of_the_formula(subject: Subject, case: Case) -> Evidence:
    columns, rows_ = by_axis(subject, cells(subject, case).out)
    for features, length, spread in ((columns, case.columns, (0,)), (rows_, case.rows, (1,))):
        theta = angles(subject, length, case.features // 2).to(case.device).unsqueeze(*spread)
        sines, cosines = axis_pairs(subject, features)
        bound = drift(length)
        yield close(sines, theta.sin().expand_as(sines), "sines", bound=bound, source=DRIFT_SOURCE, unit=1.0)
        yield close(cosines, theta.cos().expand_as(cosines), "cosines", bound=bound, source=DRIFT_SOURCE, unit=1.0)
