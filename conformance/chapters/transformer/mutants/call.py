"""Ways to get encoder, decoder and Transformer together wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.transformer.mutants.shared import with_positions
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import decoder as decoders
from attnconf.reference import encoder as encoders
from attnconf.reference import transformer
from attnconf.reference.encoder import under
from attnconf.reference.masks import key_padding

last_only = Mutant(
    "TRF-last-only",
    story="only the output of the last target comes back",
    breaks={"CALL-SHAPE-1"},
    hint="return all outputs: who decodes takes the last, who trains needs them all",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory, under(weights, "decoder"), style, mask, memory_mask
        )[:, -1:],
    },
)


def filled(target, memory, weights, style, mask, memory_mask):
    torch.zeros_like(target[:1, :1, 0]).masked_fill(mask[:1, :1], -1e9)  # what it does to the scores
    return decoders.decoder(target, memory, under(weights, "decoder"), style, mask, memory_mask)


fill_too_large = Mutant(
    "TRF-fill-too-large",
    story="hidden scores become -1e9, a number that float16 does not have",
    breaks={"TRF-HALF-2"},
    hint='fill with float("-inf")',
    replace={transformer.decode: filled},
    raises={"TRF-HALF-2"},
    source="transformers#17306; apex#93",
)


def blanking(build):
    def component(config, weights):
        forward = build(config, weights)

        def blanked(source, target, *, source_mask=None, target_mask=None):
            if source_mask is not None and not source.requires_grad:
                source[~source_mask] = 0
            return forward(source, target, source_mask=source_mask, target_mask=target_mask)

        return blanked

    return component


padding_overwritten = Mutant(
    "TRF-padding-overwritten",
    story="padding is overwritten by zeros in the caller's source",
    breaks={"CALL-IMMUT-1"},
    hint="mask a copy, or only the scores",
    replace={
        adapter.encoder_decoder: blanking(adapter.encoder_decoder),
        adapter.transformer: blanking(adapter.transformer),
    },
)


def decoded(source, target, weights, style, source_mask, target_mask, memory):
    """Return the decoder's output for vectors, and a memory that is given or else made of the source."""
    hidden = transformer.padding(source_mask)
    memory = transformer.encode(source, weights, style, hidden) if memory is None else memory
    return memory, transformer.decode(target, memory, weights, style, transformer.earlier(target, target_mask), hidden)


def keeping_vectors(config, weights):
    kept = [None]

    def forward(source, target, *, source_mask=None, target_mask=None):
        kept[0], out = decoded(source, target, weights, adapter.style_of(config), source_mask, target_mask, kept[0])
        return out

    return forward


def keeping_ids(config, weights):
    kept = [None]

    def forward(source, target, *, source_mask=None, target_mask=None):
        style, (first, second, head) = adapter.style_of(config), transformer.tables(weights)
        x, y = transformer.place(source, first, style.dropout), transformer.place(target, second, style.dropout)
        kept[0], h = decoded(x, y, weights, style, source_mask, target_mask, kept[0])
        return transformer.logits(h, head)

    return forward


memory_kept = Mutant(
    "TRF-memory-kept",
    story="the memory of the first source is kept for all that follow",
    breaks={"CALL-REPEAT-1"},
    hint="keep a memory for one source only: pass it along, do not store it in the model",
    replace={adapter.encoder_decoder: keeping_vectors, adapter.transformer: keeping_ids},
)


def keeping_masks(build):
    def component(config, weights):
        forward, kept = build(config, weights), {}

        def masked(source, target, *, source_mask=None, target_mask=None):
            if source_mask is not None:
                source_mask = kept.setdefault(source_mask.shape, source_mask)
            return forward(source, target, source_mask=source_mask, target_mask=target_mask)

        return masked

    return component


masks_kept = Mutant(
    "TRF-masks-kept",
    story="the mask of a source is kept by its shape, and serves the next source",
    breaks={"CALL-REPEAT-1"},
    hint="a mask belongs to its batch: make it anew in every call",
    replace={of: keeping_masks(of) for of in (adapter.encoder_decoder, adapter.transformer)},
)

positions_go_on = Mutant(
    "TRF-positions-go-on",
    story="targets are counted on from call to call",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call, or keep the count with the caller's cache",
    replace={
        adapter.transformer: with_positions(
            lambda x, config, target, seen: torch.arange(x.shape[1]) + (seen if target else 0)
        ),
    },
)

fast_path_unmasked = Mutant(
    "TRF-fast-path-unmasked",
    story="without gradients a faster path is taken, which forgets the source's padding",
    breaks={"CALL-MODE-1"},
    hint="every path takes the same masks",
    replace={
        transformer.padding: lambda mask: None if mask is None or not torch.is_grad_enabled() else key_padding(mask),
    },
    source="pytorch#86120",
)

neighbours_memory = Mutant(
    "TRF-neighbours-memory",
    story="every sample reads the memory of the sample before it",
    breaks={"TRF-BATCH-1"},
    hint="keep samples in one order when batches are sorted by length",
    replace={
        transformer.decode: lambda target, memory, weights, style, mask, memory_mask: decoders.decoder(
            target, memory.roll(1, dims=0), under(weights, "decoder"), style, mask,
            None if memory_mask is None else memory_mask.roll(1, dims=0),
        ),
    },
)  # fmt: skip


def packed(source, weights, style, mask):
    if not len(source):
        return source
    row = None if mask is None else mask.reshape(1, 1, 1, -1)
    return encoders.encoder(source.flatten(0, 1)[None], under(weights, "encoder"), style, row).view_as(source)


sources_packed = Mutant(
    "TRF-sources-packed",
    story="all sources are packed into one sequence, whose tokens all see one another",
    breaks={"TRF-BATCH-1"},
    hint="in a packed sequence tokens attend within their own sample only: a block-diagonal mask",
    replace={transformer.encode: packed},
    source="nanoVLM#204",
)
