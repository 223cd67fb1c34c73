"""Checks of the chapter spec/encoder.md: a stack."""

from dataclasses import replace
from itertools import product

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import (
    ATTENTION,
    NETWORK,
    Evidence,
    each,
    in_layer,
    left_alone,
    normed,
    order_name,
    parts,
    silenced,
    three_layers,
)
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import run
from attnconf.conformance.chapters.shared.placements import norms_of, placements
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ENC-OWN-1", stimuli.ONE)
def every_layer_has_weights_of_its_own(subject: Subject, case: Case) -> Evidence:
    for what, block in list(each(subject, case, three_layers))[-1:]:
        want = run(subject, block).out
        for i, part in product(range(3), ("attn", "ff", *norms_of(block.config))):
            other = {name: w.roll(1, dims=0) for name, w in parts(block, f"layers.{i}.{part}").items()}
            moved = float((run(subject, block.with_weights(other)).out - want).abs().max())
            message = f"{what}: other weights in layers.{i}.{part} have no effect"
            yield holds(moved > SEMANTIC * float(want.abs().max()), message)


@requirement("ENC-STACK-1", stimuli.ONE)
def a_stack_is_its_layers_one_after_another(subject: Subject, case: Case) -> Evidence:
    for placement, layers in product(placements(subject), (2, 3)):
        block = blocks.encoder(subject, case, placement, False, layers)
        x = block.inputs["x"]
        for i in range(layers):
            one = replace(block, weights=in_layer(block, i), inputs={"x": x}).with_config(num_layers=1)
            x = run(subject, one).out
        what = f"{order_name(placement)}: out of {layers} layers, against one after another,"
        yield close(run(subject, block).out, x, what)


@requirement("ENC-FINAL-1", stimuli.ONE)
def the_last_norm_comes_last(subject: Subject, case: Case) -> Evidence:
    for placement in placements(subject):
        block = silenced(case, blocks.encoder(subject, case, placement, True, 2), ATTENTION, NETWORK)
        want = normed(subject, block, left_alone(subject, block, block.inputs["x"]), "norm")
        what = f"{order_name(placement)}: out of two layers that add nothing, with a last norm,"
        yield close(run(subject, block).out, want, what)
