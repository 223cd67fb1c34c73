"""Checks of the chapter spec/transformer.md: from ids to logits."""

from functools import partial

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import endings, run, style_of
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import (
    Evidence,
    cotangent,
    gradients,
    key_of,
    most,
    placing,
    with_gradients,
)
from attnconf.conformance.chapters.transformer.stimuli import (
    TABLES,
    averaging,
    model,
    plain_norms,
    ties,
    vocabulary,
    wanted,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, SINGLE, SINGLE_SOURCE, Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.layer_norm import correction


def handed_on(subject: Subject, case: Case, blank: bool) -> Evidence:
    """Yield what comes of targets to which the mean of the source is added, of one source token and of all."""
    block = placing(subject, case, blank)
    block = block.with_weights(averaging(block))
    for length in (1, case.S):
        some = block.with_inputs(source=block.inputs["source"][:, :length])
        want = case.once(key_of(subject, block, f"{length} {blank}"), partial(wanted, subject, some))
        yield close(run(subject, some).out, want, f"logits of the target plus the mean of {length} source tokens")


@requirement("TRF-POS-1", stimuli.USUAL)
def positions_are_added_to_source_and_target(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=True)


@requirement("TRF-SCALE-1", stimuli.USUAL)
def rows_are_scaled_before_positions_are_added(subject: Subject, case: Case) -> Evidence:
    yield from handed_on(subject, case, blank=False)


@requirement("TRF-ROW-1", stimuli.USUAL)
def a_row_matters_where_its_id_stands(subject: Subject, case: Case) -> Evidence:
    yield from rows_of_tables(subject, case, used=True)


@requirement("TRF-ROW-2", stimuli.USUAL)
def a_row_does_not_matter_where_its_id_does_not_stand(subject: Subject, case: Case) -> Evidence:
    yield from rows_of_tables(subject, case, used=False)


def rows_of_tables(subject: Subject, case: Case, used: bool) -> Evidence:
    """Yield whether rows matter that are used, or are not; sources have the ids 1 to 3, targets 4 to 6."""
    block = model(subject, case)
    block = block.with_inputs(source=block.inputs["source"] % 3 + 1, target=block.inputs["target"] % 3 + 4)
    want = run(subject, block).out
    sources, targets, neither = [1, 2, 3], [4, 5, 6], [7, 8, 9]
    own = {"source.weight": sources, "target.weight": targets}
    if "source.weight" not in block.weights:
        own["target.weight"] = sources + targets
    for name, looked_up in own.items():
        if name in block.weights:
            rows = [row for row in sources + targets + neither if (row in looked_up) == used]
            yield rows_matter(subject, case, block, want, name, rows, used)


def rows_matter(
    subject: Subject, case: Case, block: Call, want: Tensor, name: str, rows: list[int], effect: bool
) -> Measure:
    """Return the measure if other rows of a table have an effect, or none, on the logits of other ids."""
    table = block.weights[name].clone()
    table[rows] += case.draw(f"other rows of {name}", vocabulary(case), table.shape[1])[rows]
    out = run(subject, block.with_weights({name: table})).out
    kept = torch.ones(vocabulary(case), dtype=torch.bool, device=case.device)
    if block.config.tying != "none":
        kept[rows] = False  # the logits of these ids are products with these rows
    what = f"rows {rows} of {name}"
    if effect:
        return holds(most((out - want)[..., kept]) > SEMANTIC * most(want), f"{what}: no effect where they are used")
    return close(out[..., kept], want[..., kept], f"logits with other {what}, which are not used,")


@requirement("TRF-IDS-1", stimuli.USUAL, out_of_range=True)
def ids_without_a_row_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, vocabulary(case))


@requirement("TRF-IDS-3", stimuli.USUAL, out_of_range=True)
def negative_ids_are_refused(subject: Subject, case: Case) -> Evidence:
    return refuses(subject, case, -1)


def refuses(subject: Subject, case: Case, wrong: int) -> Evidence:
    block = model(subject, case)
    for name in ("source", "target"):
        ids = block.inputs[name].clone()
        ids[-1, -1] = wrong
        try:
            run(subject, block.with_inputs(**{name: ids}))
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield Measure()
            continue
        raise Failure("property", f"id {wrong} in the {name}, of {vocabulary(case)} ids: no error was raised")


@requirement("TRF-IDS-2", stimuli.USUAL)
def an_id_means_what_its_row_says(subject: Subject, case: Case) -> Evidence:
    """Ids are renamed so that one of source and target is 0."""
    block = model(subject, case)
    source, target = (block.inputs[name].clone() for name in ("source", "target"))
    target[:, 0] = source[:, 0] = source[0, 0]
    block, shift = block.with_inputs(source=source, target=target), vocabulary(case) - int(source[0, 0])
    renamed = {name: block.weights[name].roll(shift, dims=0) for name in TABLES if name in block.weights}
    ids = {name: (x + shift) % vocabulary(case) for name, x in block.inputs.items()}
    weight, tables = cotangent(subject, case), tuple(renamed)
    want = run(subject, block, cotangent=weight, wrt=tables)
    got = run(
        subject, block.with_weights(renamed).with_inputs(**ids), cotangent=weight.roll(shift, dims=-1), wrt=tables
    )
    yield close(got.out, want.out.roll(shift, dims=-1), "logits with ids renamed, and rows with them,")
    for name in tables:
        grad = want.grads[name].roll(shift, dims=0)
        yield close(got.grads[name], grad, f"gradient of {name}, likewise,", bound=SINGLE, source=SINGLE_SOURCE)


@requirement("TRF-MAXLEN-1", stimuli.USUAL)
def the_longest_sequence_is_as_good_as_others(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    got = run(subject, block.with_config(max_len=max(case.S, case.L))).out
    yield close(got, run(subject, block).out, "logits with max_len as long as the source, against a larger one,")


@requirement("TRF-HEAD-1", stimuli.USUAL)
def a_logit_is_a_product_with_the_row_of_its_id(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, final_norm=endings(subject)[-1]).with_config(eps=1e-9)
    name, weight = "head.weight", block.weights["head.weight"]
    got, want = run(subject, block.with_weights({name: -2 * weight})).out, -2 * run(subject, block).out
    yield close(got, want, "logits with the head times -2, against logits times -2,")
    if block.config.norm_first and not block.config.final_norm:
        return
    reading = torch.eye(*weight.shape).to(weight)
    token = run(subject, block.with_weights({**plain_norms(subject, block), name: reading})).out
    more = correction(weight, (-1,), style_of(block.config).divisor)
    size = more * token.square().sum(dim=2) / weight.shape[1]
    yield close(size, torch.ones_like(size), "the variance of a normalized token, read off its logits,")


def untied(block: Call) -> Call:
    """Return the block with three tables of the numbers that it has."""
    target = block.weights["target.weight"]
    return block.with_config(tying="none").with_weights({name: block.weights.get(name, target) for name in TABLES})


def alike_tables(subject: Subject, case: Case, tying: str) -> Call:
    """Return a model whose tables, as many as there are, all have the same numbers."""
    block = model(subject, case, tying=tying)
    return block.with_weights({name: block.weights["target.weight"] for name in TABLES if name in block.weights})


@requirement("TRF-TIE-1", stimuli.USUAL)
def a_tied_table_does_what_equal_ones_do(subject: Subject, case: Case) -> Evidence:
    for tying in ties(subject):
        if tying != "none":
            block = model(subject, case, tying=tying)
            want = run(subject, untied(block)).out if "none" in ties(subject) else wanted(subject, block)
            yield close(
                run(subject, block).out, want, f'logits with tying "{tying}", against tables of the same numbers,'
            )


@requirement("TRF-TIE-2", stimuli.USUAL)
def a_tied_table_gets_the_gradients_of_all_its_uses(subject: Subject, case: Case) -> Evidence:
    free = alike_tables(subject, case, "none")
    if "none" in ties(subject):
        each = gradients(subject, case, free, TABLES)
    else:
        _, slopes_of_each = with_gradients(partial(wanted, subject), free, cotangent(subject, case), TABLES)
        each = dict(zip(TABLES, slopes_of_each, strict=True))
    for tying in ties(subject):
        if tying != "none":
            block = alike_tables(subject, case, tying)
            (got,) = gradients(subject, case, block, ("target.weight",)).values()
            want = sum((each[n] for n in TABLES if n not in block.weights), each["target.weight"])
            yield close(got, want, f'gradient of target.weight with tying "{tying}", against the sum over its uses,')
