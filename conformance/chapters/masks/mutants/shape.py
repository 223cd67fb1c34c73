"""Ways to get masks wrong: the mask's path and shape."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.masks.mutants.shared import first_of, with_attn_mask, with_key_mask
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def attend_unscaled_under_mask(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, bias, scale if mask is None else 1.0, dropout)


unscaled_under_mask = Mutant(
    "MASK-unscaled",
    story="a second path, taken when there is a mask, forgets the scale",
    breaks={"MASK-ALL-1"},
    hint="one path for both, with the mask optional",
    replace={attention.attend: attend_unscaled_under_mask},
)


def as_lengths(mask):
    return torch.arange(mask.shape[-1]) < mask.sum(dim=-1, keepdim=True)


mask_as_lengths = Mutant(
    "MASK-as-lengths",
    story="the mask is turned into lengths, as if only the last keys could be hidden",
    breaks={"MASK-HOLES-1"},
    hint="use the mask itself; keys may be hidden anywhere",
    replace={adapter.gather_masks: with_attn_mask(as_lengths)},
    source="pytorch#79927",
)

key_mask_as_lengths = Mutant(
    "MASK-padding-as-lengths",
    story="the key mask is turned into lengths: padding at the left or in between is wrong",
    breaks={"MASK-PADDING-1"},
    hint="use the mask itself; padding may stand anywhere",
    replace={masks.key_padding: with_key_mask(as_lengths)},
    source="pytorch#79927",
)

mask_transposed = Mutant(
    "MASK-transposed",
    story="the explicit mask is transposed: keys by queries",
    breaks={"MASK-QUERY-1"},
    hint="rows are queries, columns are keys",
    replace={adapter.gather_masks: with_attn_mask(lambda m: m.mT if m.ndim > 1 and m.shape[-1] == m.shape[-2] else m)},
)

first_row = Mutant(
    "MASK-first-row",
    story="the first query's row of the mask is used for all queries",
    breaks={"MASK-QUERY-1"},
    hint="keep the axis of the queries",
    replace={adapter.gather_masks: with_attn_mask(first_of(-2))},
)

first_head = Mutant(
    "MASK-first-head",
    story="the first head's mask is used for all heads",
    breaks={"MASK-HEAD-1"},
    hint="keep the axis of the heads",
    replace={adapter.gather_masks: with_attn_mask(first_of(-3))},
)

first_sample = Mutant(
    "MASK-first-sample",
    story="the first sample's mask is used for all samples",
    breaks={"MASK-SAMPLE-1"},
    hint="keep the axis of the samples",
    replace={adapter.gather_masks: with_attn_mask(first_of(-4))},
)


def tiled(mask):
    if mask.ndim < 4 or 1 in mask.shape[:2]:
        return mask
    B, H = mask.shape[:2]
    return mask[:, 0].repeat(H, 1, 1).unflatten(0, (B, H)) if bool((mask == mask[:, :1]).all()) else mask


samples_tiled = Mutant(
    "MASK-samples-tiled",
    story="one mask a sample is repeated over the heads in the wrong order (repeat instead of repeat_interleave)",
    breaks={"MASK-SAMPLE-1"},
    hint="(B·H, L, S) has the heads fastest: repeat_interleave(H, dim=0)",
    replace={adapter.gather_masks: with_attn_mask(tiled)},
    source="lsdefine/attention-is-all-you-need-keras#36",
)

rank_three_by_sample = Mutant(
    "MASK-rank-3-by-sample",
    story="a mask of three axes is taken as one for each sample instead of each head",
    breaks={"MASK-BROADCAST-1"},
    hint="broadcasting aligns from the right: (H, L, S)",
    replace={adapter.gather_masks: with_attn_mask(lambda m: m[:, None] if m.ndim == 3 else m)},
    source="microsoft/onnxruntime#27464",
)

squeezed = Mutant(
    "MASK-squeezed",
    story="axes of size 1 are squeezed out of the mask, and the others meet the wrong axes",
    breaks={"MASK-BROADCAST-1", "MASK-DELETE-1"},
    raises={"MASK-DELETE-1"},
    hint="keep axes of size 1",
    replace={adapter.gather_masks: with_attn_mask(lambda m: m.squeeze(1) if m.ndim == 4 and m.shape[-2] > 1 else m)},
)


def attend_ignoring_late_mask(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    if mask is not None:
        late = torch.arange(mask.shape[-1]) >= 128
        mask = mask | late
    return attention.attend(q, k, v, mask, bias, scale, dropout)


mask_past_128 = Mutant(
    "MASK-past-128",
    story="the mask is not applied in the last, shorter tile of keys",
    breaks={"MASK-LONG-1"},
    hint="mask every tile",
    replace={attention.attend: attend_ignoring_late_mask},
)


def causal_in_tiles(queries, keys, offset=0):
    i = torch.arange(queries)[:, None]
    return torch.arange(keys)[None, :] <= i + offset + (i >= 64) * (63 - i % 64)


causal_tiles = Mutant(
    "MASK-causal-in-tiles",
    story="past the 64th query causality is that of whole tiles: queries see the future within their own tile",
    breaks={"MASK-LONG-1"},
    hint="mask the tiles on the diagonal element by element",
    replace={masks.causal: causal_in_tiles},
)


def intersect_in_place(first, second):
    if first is None or second is None or first.shape != torch.broadcast_shapes(first.shape, second.shape):
        return masks.intersect(first, second)
    return first.logical_and_(second)


def intersect_and_overwrite(first, second):
    both = masks.intersect(first, second)
    if first is not None and second is not None:
        first.logical_not_()
    return both


overwritten = Mutant(
    "MASK-overwritten",
    story="the causal mask is written into the caller's mask",
    breaks={"MASK-IMMUT-1"},
    hint="write mask & causal, not mask &= causal",
    replace={masks.intersect: intersect_in_place},
    variants=[{masks.intersect: intersect_and_overwrite}],  # a mask of keys, too
)


def ignore_strides(x):
    packed = torch.empty(x.shape, device="meta").stride()
    return x if x.stride() == packed else x.as_strided(x.shape, [min(s, 1) for s in packed])


strides_ignored = Mutant(
    "MASK-strides-ignored",
    story="the mask's memory is read as if it were contiguous",
    breaks={"MASK-STRIDE-1"},
    hint="honour the strides, or call .contiguous() first",
    replace={adapter.gather_masks: with_attn_mask(ignore_strides)},
    source="pytorch#181133",
)
