"""Checks of the chapter spec/encoder.md: everything at once."""

from itertools import product

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    Evidence,
    compare_all,
    each,
    in_formula,
    order_name,
    trailing,
    whole,
)
from attnconf.conformance.chapters.encoder.torch_layers import encoder_in_torch, expressible
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import endings, masked_if_taken
from attnconf.conformance.chapters.shared.placements import placements
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ENC-ORACLE-1", stimuli.USUAL, stimuli.EDGES)
def outputs_and_gradients_of_a_layer_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case):
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-ORACLE-2", stimuli.ONE)
def outputs_and_gradients_of_a_stack_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for placement, final_norm in product(placements(subject), endings(subject)):
        block = blocks.encoder(subject, case, placement, final_norm, 2)
        what = f"{order_name(placement)}, {'with a' if final_norm else 'no'} last norm"
        yield from compare_all(subject, case, block, in_formula, what)


@requirement("ENC-TORCH-1", stimuli.WIDE)
def outputs_and_gradients_are_those_of_torch_with_padding_too(subject: Subject, case: Case) -> Evidence:
    for what, block in each(subject, case, whole):
        encode = encoder_in_torch if expressible(block.config) else in_formula
        yield from compare_all(subject, case, block, encode, what)
        masked = masked_if_taken(subject, block, key_mask=trailing(case))
        if masked is not block:
            yield from compare_all(subject, case, masked, encode, what)
