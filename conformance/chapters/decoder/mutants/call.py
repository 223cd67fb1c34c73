"""Ways to get decoder layers, and stacks of them, wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.decoder.mutants.shared import around, attend, look
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks


def look_where_lengths_agree(x, memory, weights, style, mask):
    if x.shape[1] != memory.shape[1]:
        raise ValueError("targets and memory must be as long as each other")
    return look(x, memory, weights, style, mask)


one_length = Mutant(
    "DEC-one-length",
    story="targets and memory must be as long as each other",
    breaks={"CALL-SHAPE-1"},
    raises={"CALL-SHAPE-1"},
    hint="keys and values come from the memory alone: L queries meet S keys",
    replace={look: look_where_lengths_agree},
)


fill_overflows = Mutant(
    "DEC-fill-overflows",
    story="hidden scores are filled with -10⁹, which float16 cannot hold",
    breaks={"DEC-HALF-1"},
    raises={"DEC-HALF-1"},
    hint="fill with -inf, or with torch.finfo(scores.dtype).min",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, -1e9)},
    source="apex#924",
)


def zero_padding(config, compute, x, memory, mask, hidden):
    if hidden is not None and not memory.requires_grad:
        memory.masked_fill_(~hidden[:, 0, 0, :, None], 0.0)
    return compute(x, memory, mask, hidden)


memory_zeroed = Mutant(
    "DEC-memory-zeroed-in-place",
    story="padding is zeroed in the caller's memory",
    breaks={"CALL-IMMUT-1"},
    hint="memory.masked_fill(…), without the underscore, makes a copy",
    replace=around(zero_padding),
)


def remember(of):
    def build(config, weights):
        forward, seen = of(config, weights), []

        def remembering(x, memory, **given):
            seen.append(memory)
            return forward(x, seen[0] if len(seen[0]) == len(x) else memory, **given)

        return remembering

    return build


def remember_of_one_length(of):
    def build(config, weights):
        forward, seen = of(config, weights), {}

        def remembering(x, memory, **given):
            if seen.get("memory") is None or seen["memory"].shape != memory.shape:
                seen["memory"] = memory
            return forward(x, seen["memory"], **given)

        return remembering

    return build


memory_kept = Mutant(
    "DEC-memory-kept",
    story="keys and values are made from the memory of the first call and kept",
    breaks={"CALL-REPEAT-1"},
    hint="a cache belongs to one source: empty it when another begins",
    replace={of: remember(of) for of in (adapter.decoder_layer, adapter.decoder)},
    variants=[{of: remember_of_one_length(of) for of in (adapter.decoder_layer, adapter.decoder)}],
)


def remember_masks(of):
    def build(config, weights):
        forward, seen = of(config, weights), {}

        def remembering(x, memory, **given):
            for name, mask in given.items():
                if mask is not None and (seen.get(name) is None or seen[name].shape != mask.shape):
                    seen[name] = mask
            return forward(x, memory, **{name: seen[name] for name, mask in given.items() if mask is not None})

        return remembering

    return build


masks_kept = Mutant(
    "DEC-masks-kept",
    story="a mask is kept by its shape, and serves the next call in place of its own",
    breaks={"CALL-REPEAT-1"},
    hint="a mask belongs to its batch: make it anew in every call",
    replace={of: remember_masks(of) for of in (adapter.decoder_layer, adapter.decoder)},
)


def look_at_the_first(x, memory, weights, style, mask):
    return look(x, memory[:1].expand_as(memory), weights, style, mask)


first_memory = Mutant(
    "DEC-first-memory",
    story="every sample looks at the memory of the first",
    breaks={"DEC-BATCH-1"},
    hint="memory has a batch axis of its own: no [0]",
    replace={look: look_at_the_first},
)


def attend_along_batch(x, weights, style, mask):
    if not len(x):
        return x
    across = masks.causal(x.shape[0], x.shape[0]).to(x.device)
    return attend(x.transpose(0, 1), weights, style, across).transpose(0, 1)


along_batch = Mutant(
    "DEC-along-batch",
    story="self-attention runs along the batch, as if the sequence came first",
    breaks={"DEC-BATCH-1"},
    hint="nn.MultiheadAttention wants (L, B, E) unless batch_first=True",
    replace={attend: attend_along_batch},
    source="AEMatter#3, tokenlearner#1",
)

fast_path = Mutant(
    "DEC-fast-path",
    story="without gradients a fast path is taken that forgets the memory's mask",
    breaks={"CALL-MODE-1"},
    hint="every path must take the same masks",
    replace={
        adapter.mask_of_memory: lambda memory_mask: (
            masks.key_padding(memory_mask) if memory_mask is not None and torch.is_grad_enabled() else None
        )
    },
)

full_in_training = Mutant(
    "DEC-full-in-training",
    story="in training, where the whole target is known, self-attention is not causal",
    breaks={"CALL-MODE-1"},
    hint="the target is known, the prediction must not use it: causal in training as well",
    replace=around(
        lambda config, compute, x, memory, mask, hidden: compute(
            x, memory, torch.ones_like(mask) if config.training else mask, hidden
        )
    ),
)
