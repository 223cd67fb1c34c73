"""Ways to get decoder layers, and stacks of them, wrong: the stack."""

from collections.abc import Callable
from typing import Any

import torch

from attnconf.conformance.chapters.decoder.mutants.shared import normed
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder, encoder


def stack(order: Callable[..., Any]) -> Callable[..., Any]:
    """Return a stack that applies the layers ``order(N)``, numbers of layers from 0."""

    def run(x, memory, weights, style, mask, memory_mask=None):
        for i in order(encoder.count_layers(weights)):
            x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        return decoder.last_norm(x, weights, style)

    return run


shared = Mutant(
    "DEC-shared-layer",
    story="all layers have the weights of the first",
    breaks={"DEC-STACK-1"},
    hint="copy.deepcopy for each: [layer] * N is one layer N times",
    replace={decoder.decoder: stack(lambda n: [0] * n)},
    source="encodecmae#3, espnet#1278",
)

reversed_layers = Mutant(
    "DEC-layers-reversed",
    story="the layers are applied last to first",
    breaks={"DEC-STACK-1"},
    hint="layer 0 comes first",
    replace={decoder.decoder: stack(lambda n: reversed(range(n)))},
)

one_less = Mutant(
    "DEC-one-layer-less",
    story="the last of several layers is left out",
    breaks={"DEC-STACK-1"},
    hint="range(num_layers)",
    replace={decoder.decoder: stack(lambda n: range(max(n - 1, 1)))},
    source="continual-inference#70",
)

one_more = Mutant(
    "DEC-one-layer-more",
    story="the last of several layers is applied twice",
    breaks={"DEC-STACK-1"},
    hint="range(num_layers)",
    replace={decoder.decoder: stack(lambda n: [*range(n), n - 1] if n > 1 else [0])},
)


def last_alone(x, memory, weights, style, mask, memory_mask=None):
    y = x
    for i in range(encoder.count_layers(weights)):
        y = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
    return decoder.last_norm(y, weights, style)


every_layer_from_the_targets = Mutant(
    "DEC-every-layer-from-the-targets",
    story="every layer gets the input of the stack: only the last one has an effect",
    breaks={"DEC-STACK-1"},
    hint="x = layer(x, memory), not out = layer(x, memory)",
    replace={decoder.decoder: last_alone},
)


def memory_renewed(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        memory = torch.nn.functional.layer_norm(memory, memory.shape[-1:])
    return decoder.last_norm(x, weights, style)


other_memory = Mutant(
    "DEC-other-memory",
    story="every layer but the first gets the memory normalized",
    breaks={"DEC-STACK-1"},
    hint="all layers see the same memory",
    replace={decoder.decoder: memory_renewed},
)


def outputs_as_memory(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        memory = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
        x, memory_mask = memory, None
    return decoder.last_norm(x, weights, style)


output_as_memory = Mutant(
    "DEC-output-as-memory",
    story="every layer but the first reads the output of the layer before it in place of the memory",
    breaks={"DEC-CAUSAL-1", "DEC-PAD-1", "DEC-STACK-1"},
    hint="only x is renewed from layer to layer; the memory stays",
    replace={decoder.decoder: outputs_as_memory},
)

always_normed = Mutant(
    "DEC-always-normed",
    story="a stack without a last norm is normalized all the same",
    breaks={"DEC-STACK-1"},
    hint="no norm where none is declared",
    replace={
        decoder.last_norm: lambda x, weights, style: (
            normed(x, weights, "norm", style)
            if "norm.weight" in weights
            else torch.nn.functional.layer_norm(x, x.shape[-1:])
        )
    },
)

no_last_norm = Mutant(
    "DEC-no-last-norm",
    story="the last norm is missing",
    breaks={"DEC-FINAL-1"},
    hint="a pre-norm stack normalizes nothing at its end unless the last norm does",
    replace={decoder.last_norm: lambda x, weights, style: x},
    source="facebookresearch/xformers#665",
)

last_norm_twice = Mutant(
    "DEC-last-norm-twice",
    story="the last norm is applied twice",
    breaks={"DEC-FINAL-1"},
    hint="once",
    replace={
        decoder.last_norm: lambda x, weights, style: decoder.last_norm(
            decoder.last_norm(x, weights, style), weights, style
        )
    },
)


def norm_first_of_all(x, memory, weights, style, mask, memory_mask=None):
    x = decoder.last_norm(x, weights, style)
    for i in range(encoder.count_layers(weights)):
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, memory_mask)
    return x


last_norm_first = Mutant(
    "DEC-last-norm-first",
    story="the last norm is applied to the targets, before the first layer",
    breaks={"DEC-FINAL-1"},
    hint="after the last layer",
    replace={decoder.decoder: norm_first_of_all},
)
