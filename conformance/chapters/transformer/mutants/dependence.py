"""Ways to get encoder, decoder and Transformer together wrong: which output reads what."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.transformer.mutants.shared import layer_by_layer, with_positions
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import sinusoidal, transformer
from attnconf.reference.encoder import under
from attnconf.reference.masks import causal, key_padding


def everywhere(target, mask):
    length = target.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool, device=target.device)
    return seen if mask is None else seen & key_padding(mask)


sees_ahead = Mutant(
    "TRF-sees-ahead",
    story="targets see later targets",
    breaks={"TRF-CAUSAL-1"},
    hint="give the decoder a causal mask: it is not made by itself",
    replace={transformer.earlier: everywhere},
    source="pytorch/tutorials#719; alex-matton/causal-transformer-decoder#1",
)


def one_further(target, mask):
    seen = causal(target.shape[1], target.shape[1], 1)
    return seen if mask is None else seen & key_padding(mask)


one_ahead = Mutant(
    "TRF-one-ahead",
    story="every target sees the one after it",
    breaks={"TRF-CAUSAL-1"},
    hint="the diagonal is the last that is seen: torch.tril(ones), or hide torch.triu(ones, 1)",
    replace={transformer.earlier: one_further},
    source="attention-is-all-you-need-pytorch#19",
)

first_layer_causal = Mutant(
    "TRF-first-layer-causal",
    story="the causal mask reaches the first decoder layer only",
    breaks={"TRF-CAUSAL-1"},
    hint="pass the mask to every layer",
    replace={transformer.decode: layer_by_layer(mask_of=lambda i, mask: torch.ones_like(mask) if i else mask)},
)

centred_over_time = Mutant(
    "TRF-centred-over-time",
    story="the mean over all targets is subtracted from each",
    breaks={"TRF-CAUSAL-1"},
    hint="normalize over features; over tokens the later ones leak",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target - target.mean(dim=1, keepdim=True), memory, under(weights, "decoder"), style, mask, memory_mask
        ),
    },
)

padding_instead = Mutant(
    "TRF-padding-instead",
    story="where targets are padded, the padding mask takes the place of the causal one",
    breaks={"TRF-CAUSAL-2"},
    hint="both hold: causal & padding",
    replace={
        transformer.earlier: lambda target, mask: (
            causal(target.shape[1], target.shape[1]) if mask is None else key_padding(mask)
        ),
    },
)


def windowed(width):
    """Return a causal mask through which only the last ``width`` targets are seen."""

    def earlier(target, mask):
        seen = causal(target.shape[1], target.shape[1]) & ~causal(target.shape[1], target.shape[1], -width)
        return seen if mask is None else seen & key_padding(mask)

    return earlier


only_itself = Mutant(
    "TRF-only-itself",
    story="a target sees itself and no other",
    breaks={"TRF-TARGET-1"},
    hint="the mask is a triangle, not its diagonal",
    replace={transformer.earlier: windowed(1)},
)

two_targets = Mutant(
    "TRF-two-targets",
    story="only the last two targets are seen",
    breaks={"TRF-TARGET-1"},
    hint="no window unless it is asked for",
    replace={transformer.earlier: windowed(2)},
)

counted_backwards = Mutant(
    "TRF-counted-backwards",
    story="positions are counted from the end, so that a token moves when one is added",
    breaks={"TRF-PREFIX-1", "TRF-POS-1"},
    hint="count from the beginning: 0, 1, 2, …",
    replace={
        adapter.transformer: with_positions(lambda x, config, target, seen: torch.arange(x.shape[1]).flip(0)),
    },
)


def causal_across(only_square):
    """Return a decode in which target i sees the memory up to token i."""

    def decode(target, memory, weights, style, mask, memory_mask):
        if not only_square or target.shape[1] == memory.shape[1]:
            seen = causal(target.shape[1], memory.shape[1])
            memory_mask = seen if memory_mask is None else seen & memory_mask
        return decoders.decoder(target, memory, under(weights, "decoder"), style, mask, memory_mask)

    return decode


memory_causal = Mutant(
    "TRF-memory-causal",
    story="a target sees the memory only up to its own place",
    breaks={"TRF-SOURCE-1"},
    hint="the causal mask is for targets among themselves; the source is there as a whole",
    replace={transformer.decode: causal_across(False)},
    source="TransformerEngine#565",
)

memory_causal_square = Mutant(
    "TRF-memory-causal-square",
    story="where source and target are equally long, the causal mask is applied to the memory too",
    breaks={"TRF-SOURCE-1"},
    hint="choose masks by what is attended to, not by shape",
    replace={transformer.decode: causal_across(True)},
    source="transformers#48172",
)

memory_ignored = Mutant(
    "TRF-memory-ignored",
    story="what should attend to the memory attends to the targets again",
    breaks={"TRF-SOURCE-1"},
    hint="keys and values come from the memory: attention(h, memory, memory)",
    replace={transformer.decode: layer_by_layer(memory_of=lambda i, n, x, memory, mask, memory_mask: (x, mask))},
)

one_vector = Mutant(
    "TRF-one-vector",
    story="the decoder gets the source's first vector only, as a summary",
    breaks={"TRF-SOURCE-1"},
    hint="attend to all of the memory",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory[:, :1], under(weights, "decoder"), style, mask,
            None if memory_mask is None else memory_mask[..., :1],
        ),
    },
)  # fmt: skip


def shortened(source, target, weights, style, source_mask, target_mask):
    length = target.shape[1]
    mask = None if source_mask is None else source_mask[:, :length]
    return transformer.encoder_decoder(source[:, :length], target, weights, style, mask, target_mask)


source_cut = Mutant(
    "TRF-source-cut",
    story="the source is cut off at the length of the target",
    breaks={"TRF-SOURCE-1"},
    hint="source and target have lengths of their own",
    replace={transformer.encoder_decoder: shortened},
)


def causally_encoded(source, weights, style, mask):
    seen = causal(source.shape[1], source.shape[1])
    return encoders.encoder(source, under(weights, "encoder"), style, seen if mask is None else seen & mask)


encoder_causal = Mutant(
    "TRF-encoder-causal",
    story="source tokens see only those before them",
    breaks={"TRF-ORDER-1", "TRF-ORACLE-2"},
    hint="no causal mask in the encoder: the whole source is known",
    replace={transformer.encode: causally_encoded},
)

positions_in_encoder = Mutant(
    "TRF-positions-in-encoder",
    story="the encoder adds positions, though its vectors have them already",
    breaks={"TRF-ORDER-1", "TRF-POS-1"},
    hint="add positions once, where ids become vectors",
    replace={
        transformer.encode: lambda source, weights, style, mask: encoders.encoder(
            sinusoidal.sinusoidal(source), under(weights, "encoder"), style, mask
        ),
    },
)
