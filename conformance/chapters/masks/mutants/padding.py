"""Ways to get masks wrong: padding."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.masks.mutants.shared import emptied, with_key_mask
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks

padding_ignored = Mutant(
    "MASK-padding-ignored",
    story="the key mask is ignored",
    breaks={"MASK-PADDING-1"},
    hint="pass the padding mask on to the attention",
    replace={masks.key_padding: with_key_mask(torch.ones_like)},
    source="pytorch#97111; Kyubyong/transformer#69",
)


def one_more(mask):
    return mask | mask.roll(1, dims=-1) & (torch.arange(mask.shape[-1]) > 0)


def one_more_of_none(mask):
    """As lengths of 0 are compared."""
    return one_more(mask) | ~mask.any(dim=-1, keepdim=True) & (torch.arange(mask.shape[-1]) == 0)


padding_one_more = Mutant(
    "MASK-padding-one-more",
    story="the first padded key after the real ones is seen: lengths are compared with > instead of >=",
    breaks={"MASK-PADDING-1"},
    hint="position < length is real, position >= length is padding",
    replace={masks.key_padding: with_key_mask(one_more)},
    variants=[{masks.key_padding: with_key_mask(one_more_of_none)}],
)

padding_inverted = Mutant(
    "MASK-padding-inverted",
    story="the key mask is taken as True = padding",
    breaks={"MASK-PADDING-1"},
    hint="here True is a real key; nn.MultiheadAttention wants the inverse, ~key_mask",
    replace={masks.key_padding: with_key_mask(torch.logical_not)},
    source="pytorch#86120",
)

padding_of_first = Mutant(
    "MASK-padding-of-first",
    story="the first sample's padding is used for all samples",
    breaks={"MASK-PADDING-1"},
    hint="keep the axis of the samples",
    replace={masks.key_padding: with_key_mask(lambda mask: mask[:1].expand_as(mask))},
)


def gather_padding_where(fits, change):
    """Return gather_masks with the padding, once (B, 1, 1, S), laid along a wrong axis where that fits."""

    def gather_masks(config, query, key, key_mask, attn_mask):
        if key_mask is not None and fits(config, query, key):
            attn_mask = masks.intersect(attn_mask, change(masks.key_padding(key_mask)))
            key_mask = None
        return adapter.gather_masks(config, query, key, key_mask, attn_mask)

    return gather_masks


PADDING_TRANSPOSED = {
    adapter.gather_masks: gather_padding_where(
        lambda config, query, key: query.shape[-2] == key.shape[-2], lambda mask: mask.mT
    )
}

padding_on_queries = Mutant(
    "MASK-padding-on-queries",
    story="the key mask is laid along the queries instead of the keys, which fits where L = S",
    breaks={"MASK-PADDING-1"},
    hint="key_mask[:, None, None, :]",
    replace=PADDING_TRANSPOSED,
    variants=emptied(PADDING_TRANSPOSED),
    source="hyunwoongko/transformer#40",
)

padding_as_rows = Mutant(
    "MASK-padding-as-rows",
    story="a key mask (B, S) is broadcast as (L, S), which fits where B = L",
    breaks={"MASK-PADDING-1"},
    hint="key_mask[:, None, None, :]",
    replace={
        adapter.gather_masks: gather_padding_where(
            lambda config, query, key: len(query) == query.shape[-2], lambda mask: mask[:, 0, 0]
        )
    },
)

padding_as_heads = Mutant(
    "MASK-padding-as-heads",
    story="the key mask's samples are laid along the heads, which fits where B = H",
    breaks={"MASK-PADDING-1"},
    hint="key_mask[:, None, None, :]",
    replace={
        adapter.gather_masks: gather_padding_where(
            lambda config, query, key: len(query) == getattr(config, "num_heads", query.shape[1]),
            lambda mask: mask.transpose(0, 1),
        )
    },
)


def of_heads(order):
    """Return gather_masks where head h of sample b takes the key mask of sample ``order(b, h, B, H)``."""

    def gather_masks(config, query, key, key_mask, attn_mask):
        if key_mask is not None:
            samples, heads = len(query), getattr(config, "num_heads", query.shape[1])
            b, h = torch.arange(samples)[:, None], torch.arange(heads)
            attn_mask = masks.intersect(attn_mask, key_mask[order(b, h, samples, heads)][:, :, None])
        return adapter.gather_masks(config, query, key, None, attn_mask)

    return {adapter.gather_masks: gather_masks}


padding_tiled = Mutant(
    "MASK-padding-tiled",
    story="lengths or the key mask are repeated for the heads in the wrong order: most reach another sample",
    breaks={"MASK-PADDING-1"},
    hint="(B·H, S) has the heads fastest: repeat_interleave(H, dim=0), not repeat",
    replace=of_heads(lambda b, h, samples, heads: (b * heads + h) % samples),
    variants=[of_heads(lambda b, h, samples, heads: (h * samples + b) // heads)],
)
