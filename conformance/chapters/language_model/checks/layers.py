"""Checks of the chapter spec/language_model.md: layers and the last norm."""

import torch

from attnconf.conformance.chapters.language_model import stimuli
from attnconf.conformance.chapters.language_model.checks.shared import Evidence, most, without_bias
from attnconf.conformance.chapters.language_model.stimuli import model, uncapped
from attnconf.conformance.chapters.shared.layers import endings, run
from attnconf.conformance.chapters.shared.placements import behind, best_known
from attnconf.conformance.chapters.transformer.checks.layers import parts
from attnconf.conformance.chapters.transformer.stimuli import gain
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.language_model import capped, head_of, logits


@requirement("LM-LAYERS-1", stimuli.USUAL)
def every_part_of_every_layer_has_an_effect(subject: Subject, case: Case) -> Evidence:
    block = model(subject, case, layers=3, final_norm=endings(subject)[-1])
    want = run(subject, block).out
    for name in parts(block):
        changed = block.with_weights({name: block.weights[name] + case.draw(name, *block.weights[name].shape)})
        felt = most(run(subject, changed).out - want) > SEMANTIC * most(want)
        yield holds(felt, f"{name} has no effect in a model of 3 layers")


@requirement("LM-FINAL-1", stimuli.USUAL)
def with_a_last_norm_the_head_reads_what_it_gives(subject: Subject, case: Case) -> Evidence:
    """Where its gain is 0 that is its shift."""
    for order in best_known(subject):
        block = without_bias(model(subject, case, placement=order, final_norm=True))
        weight = block.weights["norm.weight"]
        shift = block.weights.get("norm.bias", torch.zeros_like(weight))
        out = run(subject, block.with_weights({"norm.weight": gain(subject, weight, 0.0)})).out
        want = capped(logits(shift, head_of(block.weights), None), block.config.softcap)
        yield close(out, want.expand_as(out), "logits where the gain of the last norm is 0", unit=1.0)


@requirement("LM-FINAL-2", stimuli.USUAL)
def without_one_it_reads_what_the_last_layer_gives(subject: Subject, case: Case) -> Evidence:
    """Then the logits are linear in what is added, or multiplied, last."""
    order = best_known(subject)[-1]
    block = model(subject, case, placement=order, final_norm=False)
    norms = ("norm2",) if order == "post" else behind(block.config)
    last = f"layers.0.{norms[-1] if norms else 'ff.down'}."
    own = {name: w for name, w in block.weights.items() if name.startswith(last)}
    of = [block.with_weights({n: k * w for n, w in own.items()}) for k in (0, 1, 2)]
    none, once, twice = (uncapped(block, run(subject, b).out) for b in of)
    yield close(twice - once, once - none, f"the second step with {last}* once more, against the first,")
