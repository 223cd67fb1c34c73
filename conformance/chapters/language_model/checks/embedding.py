"""Checks of the chapter spec/language_model.md: from ids to vectors."""

from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import (
    Evidence,
    cotangent,
    key_of,
    most,
    placing,
)
from attnconf.conformance.chapters.language_model.stimuli import in_rows, model, positions_of, wanted
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.transformer.stimuli import vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, SINGLE, SINGLE_SOURCE, Failure, Measure, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

USED = [1, 2, 3]  # ids in the inputs of what follows


def handed_on(subject: Subject, case: Case, blank: bool) -> Evidence:
    """Yield what comes of ids in a model whose layers add nothing."""
    for kind in positions_of(subject):
        block = placing(subject, case, blank, kind)
        want = case.once(key_of(subject, block, f"handed on {blank}"), partial(wanted, subject, block))
        what = "logits of rows of zeros" if blank else "logits of rows"
        yield close(run(subject, block).out, want, f"{what} through layers that add nothing, positions {kind},", unit=1)


@requirement("LM-POS-1", stimuli.USUAL)
def positions_are_added_once_from_0(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=True)


@requirement("LM-SCALE-1", stimuli.USUAL)
def rows_are_taken_as_is_declared(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=False)


@requirement("LM-MAXLEN-1", stimuli.USUAL)
def the_longest_sequence_is_as_good_as_others(subject: Subject, case: Case) -> Evidence:
    for kind in positions_of(subject):
        block = model(subject, case, positions=kind)
        got, want = run(subject, in_rows(block, case.L)).out, run(subject, block).out
        yield close(got, want, f"logits of max_len ids, against those with a larger max_len, positions {kind},")


def other_rows(subject: Subject, case: Case, rows: list[int]) -> tuple[Tensor, Tensor]:
    """Return the logits at ids 1 to 3, as they are and with other rows of the table.

    Where the head is tied, both are without the logits of these rows.
    """
    block = model(subject, case)
    block = block.with_inputs(ids=block.inputs["ids"] % 3 + 1)
    table = block.weights["table.weight"].clone()
    table[rows] += case.draw("other rows", *table.shape)[rows]
    kept = torch.ones(vocabulary(case), dtype=torch.bool, device=case.device)
    if block.config.tying != "none":
        kept[rows] = False
    one, two = (run(subject, b).out[..., kept] for b in (block, block.with_weights({"table.weight": table})))
    return one, two


@requirement("LM-ROW-1", stimuli.USUAL)
def a_row_matters_where_its_id_stands(subject: Subject, case: Case) -> Evidence:
    one, two = other_rows(subject, case, USED)
    yield holds(most(two - one) > SEMANTIC * most(one), f"rows {USED} of the table: no effect where they are used")


@requirement("LM-ROW-2", stimuli.USUAL)
def a_row_does_not_matter_where_its_id_does_not_stand(subject: Subject, case: Case) -> Evidence:
    rows = [row for row in range(vocabulary(case)) if row not in USED]
    one, two = other_rows(subject, case, rows)
    if two.shape[-1]:
        yield close(two, one, "logits with other rows of ids that do not stand there")


@requirement("LM-IDS-1", stimuli.USUAL, out_of_range=True)
def ids_without_a_row_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, vocabulary(case))


@requirement("LM-IDS-2", stimuli.USUAL, out_of_range=True)
def negative_ids_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, -1)


def refuses(subject: Subject, case: Case, wrong: int) -> Evidence:
    block = model(subject, case)
    ids = block.inputs["ids"].clone()
    ids[-1, -1] = wrong
    try:
        run(subject, block.with_inputs(ids=ids))
    except Failure as failure:
        if failure.reason != "raised":
            raise
        yield Measure()
        return
    raise Failure("property", f"id {wrong} of {vocabulary(case)} ids: no error was raised")


@requirement("LM-IDS-3", stimuli.USUAL)
def an_id_means_what_its_row_says(subject: Subject, case: Case) -> Evidence:
    """Ids are renamed so that one of them is 0."""
    block = model(subject, case)
    shift = vocabulary(case) - int(block.inputs["ids"][0, 0])
    names = [n for n in ("table.weight", "head.weight", "head.bias") if n in block.weights]
    renamed = {name: block.weights[name].roll(shift, dims=0) for name in names}
    ids = (block.inputs["ids"] + shift) % vocabulary(case)
    weight = cotangent(case)
    want = run(subject, block, cotangent=weight, wrt=tuple(names))
    other = block.with_weights(renamed).with_inputs(ids=ids)
    got = run(subject, other, cotangent=weight.roll(shift, dims=-1), wrt=tuple(names))
    yield close(got.out, want.out.roll(shift, dims=-1), "logits with ids renamed, and rows with them,")
    for name in names:
        grad = want.grads[name].roll(shift, dims=0)
        yield close(got.grads[name], grad, f"gradient of {name}, likewise,", bound=SINGLE, source=SINGLE_SOURCE)
