"""Checks of the chapter spec/transformer.md: layers and norms."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared.layers import endings, orders, run
from attnconf.conformance.chapters.transformer import stimuli
from attnconf.conformance.chapters.transformer.checks.shared import Evidence, gradients, most
from attnconf.conformance.chapters.transformer.stimuli import depths, gain, model, reads_ids
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import SEMANTIC, Failure, Measure, close, holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def parts(block: Call) -> list[str]:
    """Return a weight of every part of every layer, and of the last norms."""
    return [name for name in block.weights if name.endswith(("out.weight", "down.weight")) or "norm" in name]


@requirement("TRF-LAYERS-1", stimuli.USUAL)
def every_part_of_every_layer_has_an_effect(subject: Subject, case: Case) -> Evidence:
    for layers in dict.fromkeys(depths(subject, case, some) for some in ((1, 2), (2, 1))):
        block = model(subject, case, layers, final_norm=endings(subject)[-1])
        for name in without_slope(subject, case, block, parts(block)):
            want = run(subject, block).out
            changed = block.with_weights({name: block.weights[name] + case.draw(name, *block.weights[name].shape)})
            felt = most(run(subject, changed).out - want) > SEMANTIC * most(want)
            yield holds(felt, f"{name} has no effect in a model of {layers[0]} + {layers[1]} layers")
        yield Measure()


def without_slope(subject: Subject, case: Case, block: Call, names: list[str]) -> list[str]:
    """Return those of the weights to which no gradient flows."""
    try:
        grads = gradients(subject, case, block, tuple(names))
    except Failure as failure:
        if failure.reason != "property":
            raise
        return names
    return [name for name, grad in grads.items() if not most(grad) > 0]


def through_head(subject: Subject, block: Call, x: Tensor) -> Tensor:
    """Return what the output is where the decoder's is x: x itself, or its logits."""
    if not reads_ids(subject):
        return x
    return x @ block.weights.get("head.weight", block.weights["target.weight"]).T


@requirement("TRF-FINAL-1", stimuli.USUAL)
def with_last_norms_the_output_is_normalized(subject: Subject, case: Case) -> Evidence:
    """Where its gain is 0 the output is its shift."""
    for order in orders(subject):
        block = model(subject, case, norm_first=order, final_norm=True)
        weight = block.weights["decoder.norm.weight"]
        shift = block.weights.get("decoder.norm.bias", torch.zeros_like(weight))
        out = run(subject, block.with_weights({"decoder.norm.weight": gain(subject, weight, 0.0)})).out
        want = through_head(subject, block, shift).expand_as(out)
        yield close(out, want, "out where the gain of the decoder's last norm is 0", unit=1.0)


@requirement("TRF-FINAL-2", stimuli.USUAL)
def without_last_norms_it_is_not(subject: Subject, case: Case) -> Evidence:
    """Then the output is linear in what is added, or multiplied, last."""
    order = orders(subject)[-1]
    block = model(subject, case, norm_first=order, final_norm=False)
    last = "decoder.layers.0." + ("ff.down." if order else "norm3.")
    own = {name: w for name, w in block.weights.items() if name.startswith(last)}
    none, once, twice = (run(subject, block.with_weights({n: k * w for n, w in own.items()})).out for k in (0, 1, 2))
    yield close(twice - once, once - none, f"the second step with {last}* once more, against the first,")
