"""Checks of the chapter spec/language_model.md: which logits read what."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import Evidence, hollow, most
from attnconf.conformance.chapters.language_model.stimuli import model, positions_of
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.chapters.transformer.checks.shared import moved
from attnconf.conformance.chapters.transformer.stimuli import alike, one_by_one, other
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, Unsupported, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("LM-BATCH-1", stimuli.BATCHES, any_weights=True)
def samples_do_not_meet(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    got = run(subject, block.with_inputs(ids=block.inputs["ids"][-1:])).out
    yield close(got, run(subject, block).out[-1:], "logits of the last sample alone, against in its batch,")


def ids_changed(subject: Subject, case: Case, mask: Tensor | None = None) -> Tensor:
    """Return how far the first sample's logits move with each id that is another, (L, L)."""
    block = model(subject, case, layers=2)
    ids = one_by_one(case, block.inputs["ids"])
    masks = {} if mask is None else {"key_mask": alike(mask, len(ids))}
    return moved(run(subject, block.with_inputs(ids=ids, **masks)).out)


def later(case: Case) -> Tensor:
    """Return which logits come before which id, (L, L)."""
    return torch.ones(case.L, case.L, dtype=torch.bool, device=case.device).tril(-1)


@requirement("LM-CAUSAL-1", stimuli.USUAL, any_weights=True)
def no_logit_depends_on_a_later_id(subject: Subject, case: Case) -> Evidence:
    reached = ids_changed(subject, case)[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of earlier logits, over max|out|,", unit=1.0)


@requirement("LM-CAUSAL-2", stimuli.USUAL, any_weights=True)
def nor_where_ids_are_padding(subject: Subject, case: Case) -> Evidence:
    reached = ids_changed(subject, case, hollow(case))[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of earlier logits, over max|out|,", unit=1.0)


@requirement("LM-PAST-1", stimuli.USUAL)
def logits_depend_on_every_id_so_far(subject: Subject, case: Case) -> Evidence:
    reached = ids_changed(subject, case)
    missing = (~later(case) & ~(reached > SEMANTIC)).nonzero().tolist()
    words = "; ".join(f"the logits at {at} do not depend on id {place}" for place, at in missing[:3])
    yield holds(not missing, words)


@requirement("LM-PREFIX-1", stimuli.USUAL, any_weights=True)
def a_beginning_gives_what_it_gives_in_the_whole(subject: Subject, case: Case) -> Evidence:
    for kind in positions_of(subject):
        block = model(subject, case, positions=kind)
        want = run(subject, block).out
        for length in sorted({1, max(1, case.L - 2)}):
            got = run(subject, block.with_inputs(ids=block.inputs["ids"][:, :length])).out
            yield close(got, want[:, :length], f"logits of the first {length} ids alone, against those of all,")


@requirement("LM-ORDER-1", stimuli.USUAL)
def the_order_of_earlier_ids_matters_where_there_are_positions(subject: Subject, case: Case) -> Evidence:
    """In one layer: a second one sees what the first, which is causal, has made of the order."""
    turned = subject.choice("rotary-inside") != "none"
    for kind in positions_of(subject):
        block = model(subject, case, placement=best_known(subject)[-1], positions=kind)
        ids = block.inputs["ids"].clone()
        ids[:, 1] = 1 + ids[:, 0] % 3 + (ids[:, 0] < 4) * 3  # another one than the first
        one = run(subject, block.with_inputs(ids=ids)).out[:, -1]
        two = run(subject, block.with_inputs(ids=ids[:, [1, 0, *range(2, case.L)]])).out[:, -1]
        what = f"with positions {kind}" + " and rotation" * turned
        if kind == "none" and not turned:
            yield close(two, one, f"the last logits with the first two ids exchanged, {what},")
        else:
            felt = most(two - one) > SEMANTIC * most(one)
            yield holds(felt, f"{what}: the last logits are the same with the first two ids exchanged")


@requirement("LM-PAD-1", stimuli.USUAL, any_weights=True)
def padding_does_not_matter(subject: Subject, case: Case) -> Evidence:
    """Neither that padding follows the ids, nor what stands among them, where it may stand there."""
    block, mask = model(subject, case), alike(hollow(case), 2)
    ended = torch.arange(case.L, device=case.device).expand(case.B, case.L) < case.L - 1
    got, want = (run(subject, b).out[:, :-1] for b in (block.with_inputs(key_mask=ended), block))
    yield close(got, want, "logits before padding, against those with an id in its place,")
    ids = alike(block.inputs["ids"], 2)
    ids = torch.cat([ids[:1], other(case, ids[:1], ~mask[:1])])
    try:
        out = run(subject, block.with_inputs(ids=ids, key_mask=mask)).out[:, mask[0]]
    except Unsupported:
        return  # it takes lengths
    yield close(out[1], out[0], "logits with other padding among the ids")
