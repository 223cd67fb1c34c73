"""Ways to get decoder layers, and stacks of them, wrong: the memory."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.decoder.mutants.shared import LAYERS, attend, look, normed, think
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, decoder, encoder, masks
from attnconf.reference import multi_head_attention as mha


def look_causally(x, memory, weights, style, mask):
    earlier = masks.causal(x.shape[1], memory.shape[1]).to(x.device)
    return look(x, memory, weights, style, earlier if mask is None else masks.intersect(earlier, mask))


causal_cross = Mutant(
    "DEC-causal-cross",
    story="the attention to the memory is causal, too",
    breaks={"DEC-MEMORY-1"},
    hint="the whole source is known: only self-attention is causal",
    replace={look: look_causally},
    source="TransformerEngine#565",
)

causal_square_cross = Mutant(
    "DEC-causal-square-cross",
    story="where memory and targets are as long as each other, the attention to the memory is causal",
    breaks={"DEC-MEMORY-1"},
    hint="do not infer causality from shapes: the attention to the memory never is",
    replace={
        look: lambda x, memory, weights, style, mask: (
            look_causally(x, memory, weights, style, mask)
            if x.shape[1] == memory.shape[1]
            else look(x, memory, weights, style, mask)
        )
    },
    source="transformers#48172",
)


def look_at_as_many(x, memory, weights, style, mask):
    length = max(x.shape[1], 2)
    return look(x, memory[:, :length], weights, style, None if mask is None else mask[..., :length])


memory_cut = Mutant(
    "DEC-memory-cut",
    story="the memory is cut off at the length of the targets",
    breaks={"DEC-MEMORY-1"},
    hint="the memory has a length of its own",
    replace={look: look_at_as_many},
)

self_fed = Mutant(
    "DEC-self-fed",
    story="keys and values of the second attention come from the targets",
    breaks={"DEC-MEMORY-1", "DEC-PAD-1"},
    hint="cross(h, memory, memory)",
    replace={look: lambda x, memory, weights, style, mask: look_causally(x, x, weights, style, None)},
    source="system 3c",
)

self_fed_unmasked = Mutant(
    "DEC-self-fed-unmasked",
    story="keys and values of the second attention come from the targets, and no mask hides later ones",
    breaks={"DEC-MEMORY-1", "DEC-CAUSAL-1", "DEC-PAD-1"},
    hint="cross(h, memory, memory)",
    replace={look: lambda x, memory, weights, style, mask: look(x, x, weights, style, None)},
)


def look_for_own_values(x, memory, weights, style, mask):
    own = encoder.under(weights, "cross")
    value = x if x.shape[1] == memory.shape[1] else memory
    out, _ = mha.multi_head_attention(x, memory, value, own, style.num_heads, mask, dropout=style.dropout)
    return attention.drop(out, style.dropout)


own_values = Mutant(
    "DEC-own-values",
    story="the values come from the targets, where there are as many as tokens of memory",
    breaks={"DEC-KV-1"},
    hint="keys and values both come from the memory",
    replace={look: look_for_own_values},
)

memory_normed = Mutant(
    "DEC-memory-normed",
    story="every layer normalizes the memory",
    breaks={"DEC-KV-1"},
    hint="the memory has been through the encoder's last norm: use it as it is",
    replace={
        look: lambda x, memory, weights, style, mask: look(
            x, torch.nn.functional.layer_norm(memory, memory.shape[-1:]), weights, style, mask
        )
    },
)


def pre_with_memory_normed(x, memory, weights, style, mask, memory_mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    keys = normed(memory, weights, "norm2", style)
    h = h + look(normed(h, weights, "norm2", style), keys, weights, style, memory_mask)
    return h + think(normed(h, weights, "norm3", style), weights, style)


memory_in_norm2 = Mutant(
    "DEC-memory-in-norm2",
    story="the norm of the queries is applied to the memory as well",
    breaks={"DEC-KV-1", "DEC-NORM-1"},
    hint="cross(norm2(h), memory): the memory has been through the encoder's last norm",
    replace={LAYERS["pre"]: pre_with_memory_normed},
)


def look_by_distance(x, memory, weights, style, mask):
    own, far = encoder.under(weights, "cross"), torch.arange(memory.shape[1]).to(x)
    out, _ = mha.multi_head_attention(
        x, memory, memory, own, style.num_heads, mask, -0.5 * far.expand(1, 1, 1, -1), style.dropout
    )
    return attention.drop(out, style.dropout)


biased_cross = Mutant(
    "DEC-biased-cross",
    story="a bias for positions is added to the scores of the memory as well",
    breaks={"DEC-PERM-1"},
    hint="relative positions belong to self-attention: source and target have no common axis",
    replace={look: look_by_distance},
    source="transformers#8518; guillaume-be/rust-bert#171",
)

memory_mask_ignored = Mutant(
    "DEC-memory-mask-ignored",
    story="memory_mask is not used",
    breaks={"DEC-HIDE-1"},
    hint="pass the source's padding on to the attention to the memory",
    replace={adapter.mask_of_memory: lambda memory_mask: None},
    source="FasterTransformer#270",
)

memory_mask_inverted = Mutant(
    "DEC-memory-mask-inverted",
    story="memory_mask is taken to be True where there is padding",
    breaks={"DEC-HIDE-1"},
    hint="True = a token; torch's key_padding_mask is the opposite",
    replace={
        adapter.mask_of_memory: lambda memory_mask: None if memory_mask is None else masks.key_padding(~memory_mask)
    },
)

memory_mask_of_first = Mutant(
    "DEC-memory-mask-of-first",
    story="the memory's padding of the first sample is used for all",
    breaks={"DEC-HIDE-1"},
    hint="memory_mask[:, None, None, :] keeps the batch axis",
    replace={
        adapter.mask_of_memory: lambda memory_mask: None if memory_mask is None else masks.key_padding(memory_mask[:1])
    },
)


def look_with_weak_fill(x, memory, weights, style, mask):
    own = encoder.under(weights, "cross")
    bias = None if mask is None else torch.where(mask, 0.0, -100.0).to(x)
    out, _ = mha.multi_head_attention(x, memory, memory, own, style.num_heads, None, bias, style.dropout)
    return attention.drop(out, style.dropout)


weak_fill = Mutant(
    "DEC-weak-fill",
    story="padding in the memory is hidden by -100 on its scores",
    breaks={"DEC-HIDE-1"},
    hint="fill with -inf",
    replace={look: look_with_weak_fill},
)


def look_at_zeros(x, memory, weights, style, mask):
    return look(x, memory if mask is None else memory * mask[:, 0, 0, :, None], weights, style, None)


memory_zeros = Mutant(
    "DEC-memory-of-zeros",
    story="padding in the memory is set to 0 instead of being hidden",
    breaks={"DEC-HIDE-1"},
    hint="a key of zeros still gets a weight: mask the scores",
    replace={look: look_at_zeros},
)


def hiding_targets(build):
    def component(config, weights):
        forward = build(config, weights)

        def hide(x, memory, *, key_mask=None, memory_mask=None):
            square = memory_mask is not None and memory_mask.shape == x.shape[:2]
            both = memory_mask if key_mask is None or not square else key_mask & memory_mask
            return forward(x, memory, key_mask=both if square else key_mask, memory_mask=memory_mask)

        return hide

    return component


memory_mask_on_targets = Mutant(
    "DEC-memory-mask-on-targets",
    story="where targets and memory are as long as each other, the memory's mask hides targets as well",
    breaks={"DEC-CAUSAL-2"},
    hint="two masks: the targets' own padding in self-attention, the memory's in the attention to it",
    replace={of: hiding_targets(of) for of in (adapter.decoder_layer, adapter.decoder)},
)


def masks_in_first(x, memory, weights, style, mask, memory_mask=None):
    for i in range(encoder.count_layers(weights)):
        hidden = memory_mask if i == 0 else None
        x = decoder.decoder_layer(x, memory, encoder.under(weights, f"layers.{i}"), style, mask, hidden)
    return decoder.last_norm(x, weights, style)


memory_mask_once = Mutant(
    "DEC-memory-mask-in-first-layer",
    story="only the first layer gets the memory's mask",
    breaks={"DEC-HIDE-1"},
    hint="every layer gets the same masks",
    replace={decoder.decoder: masks_in_first},
)


def none_if_any_is_empty(memory_mask):
    return None if memory_mask is None or not memory_mask.any(dim=-1).all() else masks.key_padding(memory_mask)


empty_unmasks = Mutant(
    "DEC-empty-unmasks",
    story="against NaN the mask is dropped where the memory of any sample is all padding",
    breaks={"DEC-EMPTY-1"},
    hint="treat that sample's rows alone",
    replace={adapter.mask_of_memory: none_if_any_is_empty},
)
