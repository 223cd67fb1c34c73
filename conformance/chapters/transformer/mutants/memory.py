"""Ways to get encoder, decoder and Transformer together wrong: the memory."""

import torch

from attnconf.conformance.chapters.transformer.mutants.shared import first_layers, layer_by_layer
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder as encoders
from attnconf.reference import transformer
from attnconf.reference.encoder import count_layers, under


def from_source(source, target, weights, style, source_mask, target_mask):
    hidden = transformer.padding(source_mask)
    return transformer.decode(target, source, weights, style, transformer.earlier(target, target_mask), hidden)


source_as_memory = Mutant(
    "TRF-source-as-memory",
    story="the decoder reads the source's vectors, not what the encoder makes of them",
    breaks={"TRF-MEMORY-1"},
    hint="memory = encoder(source); decoder(target, memory)",
    replace={transformer.encoder_decoder: from_source},
)

first_as_memory = Mutant(
    "TRF-first-as-memory",
    story="the decoder reads the output of the first encoder layer",
    breaks={"TRF-MEMORY-1"},
    hint="the memory is what comes out of the last layer",
    replace={transformer.encode: first_layers(lambda n: range(1))},
)

one_encoder_layer_less = Mutant(
    "TRF-one-encoder-layer-less",
    story="the encoder's last layer is left out, unless it is the only one",
    breaks={"TRF-MEMORY-1"},
    hint="num_encoder_layers layers: range(n)",
    replace={transformer.encode: first_layers(lambda n: range(max(1, n - 1)))},
    source="continual-inference PR #70",
)

encoder_norm_missing = Mutant(
    "TRF-encoder-norm-missing",
    story="the memory is taken before the encoder's last norm",
    breaks={"TRF-MEMORY-1"},
    hint="a pre-norm encoder ends in a norm, and the memory comes after it",
    replace={transformer.encode: first_layers(range, norm=False)},
)

source_added = Mutant(
    "TRF-source-added",
    story="the source's vectors are added to the memory",
    breaks={"TRF-MEMORY-1"},
    hint="residuals stay within layers",
    replace={
        transformer.encode: lambda source, weights, style, mask: (
            source + encoders.encoder(source, under(weights, "encoder"), style, mask)
        ),
    },
)


def ladder(source, target, weights, style, source_mask, target_mask):
    hidden, seen = transformer.padding(source_mask), transformer.earlier(target, target_mask)
    n = count_layers(under(weights, "encoder"))

    def memory_of(i, m, x, memory, mask, memory_mask):
        if i >= n - 1:
            return memory, memory_mask
        return first_layers(lambda n: range(i + 1))(source, weights, style, hidden), memory_mask

    memory = transformer.encode(source, weights, style, hidden)
    return layer_by_layer(memory_of=memory_of)(target, memory, weights, style, seen, hidden)


layer_to_layer = Mutant(
    "TRF-layer-to-layer",
    story="decoder layer i reads the output of encoder layer i",
    breaks={"TRF-MEMORY-1"},
    hint="every decoder layer reads the output of the last encoder layer",
    replace={transformer.encoder_decoder: ladder},
)

first_layer_reads = Mutant(
    "TRF-first-layer-reads",
    story="only the first decoder layer reads the memory, the others read the targets again",
    breaks={"TRF-MEMORY-2"},
    hint="pass the memory to every layer",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask) if i else (memory, memory_mask)
        ),
    },
)

last_layer_reads = Mutant(
    "TRF-last-layer-reads",
    story="only the last decoder layer reads the memory, the others read the targets again",
    breaks={"TRF-MEMORY-2"},
    hint="pass the memory to every layer",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask) if i < n - 1 else (memory, memory_mask)
        ),
    },
)

memory_fades = Mutant(
    "TRF-memory-fades",
    story="every decoder layer reads a memory that the layer before has normalized once more",
    breaks={"TRF-MEMORY-3"},
    hint="the memory is not touched: all layers read the same",
    replace={
        transformer.decode: layer_by_layer(
            memory_of=lambda i, n, x, memory, mask, memory_mask: (
                torch.nn.functional.layer_norm(memory, memory.shape[-1:]) if i else memory, memory_mask
            )
        ),
    },
)  # fmt: skip
