"""Checks of the chapter spec/transformer.md: the memory."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import orders, run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, most, moved
from attnconf.conformance.chapters.transformer.stimuli import (
    alike,
    depths,
    gain,
    model,
    models,
    other,
    plain_norms,
    silent,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def sources_that_differ(subject: Subject, case: Case, block: Call) -> Tensor:
    """Return how far the outputs move with another source, over max|out|."""
    source = block.inputs["source"][:1]
    another = other(case, source, torch.ones(source.shape[:2], dtype=torch.bool, device=source.device))
    inputs = {"source": torch.cat([source, another]), "target": alike(block.inputs["target"], 2)}
    return moved(run(subject, block.with_inputs(**inputs)).out)


@requirement("TRF-MEMORY-1", stimuli.USUAL)
def the_decoder_reads_the_output_of_the_encoder(subject: Subject, case: Case) -> Evidence:
    """Where the encoder's last norm multiplies by 0, every source gives the same memory."""
    for block in models(subject, case, depths(subject, case, (2, 1))):
        last = "encoder.norm" if block.config.final_norm else "encoder.layers.1.norm2"
        if block.config.final_norm or not block.config.norm_first:
            weight = block.weights[f"{last}.weight"]
            reached = sources_that_differ(
                subject, case, block.with_weights({f"{last}.weight": gain(subject, weight, 0.0)})
            )
            what = f"move of an output with another source where {last}.weight is 0, over max|out|,"
            yield close(reached, torch.zeros_like(reached), what, unit=1.0)
        else:  # there is no last norm, but a last layer
            down = {n: 0 * w for n, w in block.weights.items() if n.startswith("encoder.layers.1.ff.down.")}
            got, want = run(subject, block.with_weights(down)).out, run(subject, block).out
            yield holds(most(got - want) > SEMANTIC * most(want), "the encoder's last layer has no effect")


@requirement("TRF-MEMORY-2", stimuli.USUAL)
def every_decoder_layer_reads_the_memory(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, depths(subject, case, (1, 2)))
    for i in range(2):
        alone = {n: 0 * w for n, w in block.weights.items() if n.startswith(f"decoder.layers.{1 - i}.cross.out.")}
        reached = sources_that_differ(subject, case, block.with_weights(alone))
        message = f"no output depends on the source where decoder layer {i} alone reads the memory"
        yield holds(most(reached) > SEMANTIC, message)


@requirement("TRF-MEMORY-3", stimuli.USUAL)
def every_decoder_layer_reads_the_same_memory(subject: Subject, case: Case) -> Evidence:
    """A layer that adds nothing may as well stand before another: once or twice where it normalizes."""
    order = orders(subject)[-1]
    few, many = (1, 2) if order else (2, 3)
    got, want = (run(subject, with_silent_layers(subject, case, order, n)).out for n in (many, few))
    yield close(got, want, f"out of {many} decoder layers, against {few}, where all but the last add nothing,")


def with_silent_layers(subject: Subject, case: Case, norm_first: bool, layers: int) -> Call:
    """Return a model whose decoder's last layer is preceded by layers that add nothing."""
    block = model(subject, case, (1, layers), norm_first).with_config(eps=1e-12)
    last = f"decoder.layers.{layers - 1}."
    first = {name: block.weights[name.replace(last, "decoder.layers.0.")] for name in block.weights if last in name}
    block = block.with_weights(first)
    kept = ("encoder.", "decoder.norm", last)
    norms = {name: w for name, w in plain_norms(subject, block).items() if not name.startswith(kept)}
    return block.with_weights({**silent(block, *kept), **norms})
