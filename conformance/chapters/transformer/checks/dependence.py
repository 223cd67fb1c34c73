"""Checks of the chapter spec/transformer.md: the call; which output reads what."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import masked_if_taken, run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, hollow_target, moved, padded_source
from attnconf.conformance.chapters.transformer.stimuli import alike, depths, model, one_by_one, silent
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TRF-BATCH-1", stimuli.BATCHES, any_weights=True)
def samples_do_not_meet(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    last = {name: x[-1:] for name, x in block.inputs.items()}
    yield close(
        run(subject, block.with_inputs(**last)).out, want[-1:], "out of the last sample alone, against in its batch,"
    )


def targets_changed(subject: Subject, case: Case, mask: Tensor | None = None) -> Tensor:
    """Return how far the first sample's outputs move with each target token that is another, (L, L)."""
    block = model(subject, case, depths(subject, case, (1, 2)))
    target = one_by_one(case, block.inputs["target"])
    inputs = {"source": alike(block.inputs["source"], len(target)), "target": target}
    if mask is not None:
        inputs["target_mask"] = alike(mask, len(target))
    return moved(run(subject, block.with_inputs(**inputs)).out)


def later(case: Case) -> Tensor:
    """Return which outputs come before which target token, (L, L)."""
    return torch.ones(case.L, case.L, dtype=torch.bool, device=case.device).tril(-1)


@requirement("TRF-CAUSAL-1", stimuli.USUAL, any_weights=True)
def no_output_depends_on_a_later_target(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case)[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of an earlier output, over max|out|,", unit=1.0)


@requirement("TRF-CAUSAL-2", stimuli.USUAL, any_weights=True)
def nor_where_targets_are_padded(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case, hollow_target(case))[later(case)]
    yield close(reached, torch.zeros_like(reached), "move of an earlier output, over max|out|,", unit=1.0)


@requirement("TRF-TARGET-1", stimuli.USUAL)
def an_output_depends_on_every_target_so_far(subject: Subject, case: Case) -> Evidence:
    reached = targets_changed(subject, case)
    missing = (~later(case) & ~(reached > SEMANTIC)).nonzero().tolist()
    words = "; ".join(f"output {at} does not depend on target {token}" for token, at in missing[:3])
    yield holds(not missing, words)


@requirement("TRF-PREFIX-1", stimuli.USUAL, any_weights=True)
def one_pass_is_as_good_as_many_steps(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case)
    want = run(subject, block).out
    for length in sorted({1, max(1, case.L - 2)}):
        got = run(subject, block.with_inputs(target=block.inputs["target"][:, :length])).out
        yield close(got, want[:, :length], f"out of the first {length} targets alone, against those of all,")


@requirement("TRF-SOURCE-1", stimuli.USUAL, stimuli.SQUARE)
def every_output_depends_on_every_source_token(subject: Subject, case: Case) -> Evidence:
    """In an encoder that adds nothing: otherwise every token of the memory tells of all."""
    block = model(subject, case)
    block = block.with_weights(silent(block, "decoder."))
    source = one_by_one(case, block.inputs["source"])
    target = alike(block.inputs["target"], len(source))
    out = run(subject, block.with_inputs(source=source, target=target)).out
    missing = (~(moved(out) > SEMANTIC)).nonzero().tolist()
    words = "; ".join(f"output {at} does not depend on source token {token}" for token, at in missing[:3])
    yield holds(not missing, words)


@requirement("TRF-ORDER-1", stimuli.USUAL, any_weights=True)
def the_order_of_source_vectors_does_not_matter(subject: Subject, case: Case) -> Evidence:
    order, mask = case.permutation("source", case.S), padded_source(case)
    block = masked_if_taken(subject, model(subject, case), source_mask=mask)
    moved = block.with_inputs(source=block.inputs["source"][:, order])
    if "source_mask" in block.inputs:
        moved = moved.with_inputs(source_mask=mask[:, order])
    yield close(run(subject, moved).out, run(subject, block).out, "out of permuted source tokens")
