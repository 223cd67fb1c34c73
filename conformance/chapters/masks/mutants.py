"""Ways to get masks wrong: the reference with one function replaced."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import AVERAGES, CONSTANT, EVERYTHING, NUMBERS, Vacuous
from attnconf.reference import attention, masks

INF = float("inf")

# -- which way round


def with_attn_mask(change):
    """Return gather_masks with the explicit mask changed on its way in."""

    def gather_masks(config, query, key, key_mask, attn_mask):
        changed = None if attn_mask is None else change(attn_mask)
        return adapter.gather_masks(config, query, key, key_mask, changed)

    return gather_masks


def with_key_mask(change):
    """Return gather_masks with the key mask, once (B, 1, 1, S), changed on its way in."""

    def key_padding(key_mask):
        return change(masks.key_padding(key_mask))

    return key_padding


mask_inverted = Mutant(
    "MASK-inverted",
    story="the explicit mask is taken as True = ignore",
    breaks={"MASK-BOOL-1"},
    hint="here True means that the query may attend: fill where the mask is False (masked_fill(~mask, …))",
    replace={adapter.gather_masks: with_attn_mask(torch.logical_not)},
    source="pytorch#33763; TransformerTranslation#6; torchTextClassifiers#92",
)

all_inverted = Mutant(
    "MASK-all-inverted",
    story="scores are hidden where they are allowed, and allowed where they are to be hidden",
    breaks={"MASK-BOOL-1"},
    hint="fill where the mask is False",
    replace={masks.hide: lambda scores, mask: scores if mask is None else masks.hide(scores, ~mask)},
    source="detr#96",
)


def gather_in_training_only(config, query, key, key_mask, attn_mask):
    if not config.training:
        key_mask, attn_mask = None, None
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


mask_in_training_only = Mutant(
    "MASK-in-training-only",
    story="in evaluation the masks that are given are dropped",
    breaks={"MASK-BOOL-1", "MHA-MODE-1"},
    hint="pass the mask on in every branch of forward",
    replace={adapter.gather_masks: gather_in_training_only},
    source="pytorch#86120",
)

mask_ignored = Mutant(
    "MASK-ignored",
    story="the explicit mask is ignored",
    breaks={"MASK-BOOL-1"},
    hint="apply the mask to the scores before the softmax",
    replace={adapter.gather_masks: with_attn_mask(lambda mask: None)},
)

multiplied_before = Mutant(
    "MASK-scores-multiplied",
    story="the scores are multiplied by the mask: a hidden key keeps the score 0, and e^0 is 1",
    breaks={"MASK-BOOL-1"},
    hint="set hidden scores to -inf instead of 0",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores * mask},
    source="slippi-ai#24",
)

ones_added = Mutant(
    "MASK-ones-added",
    story="the mask is added to the scores as zeros and ones",
    breaks={"MASK-DELETE-1"},
    hint="turn False into -inf and True into 0 before adding",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores + mask.to(scores)},
    source="tinygrad#2425; mlverse/torch#1205",
)

# -- how well a key is hidden: the fill


def filled_with(fill):
    return lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, fill)


def filled_with_lowest(scores, mask):
    return scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def emptied(replacements):
    """Return variants of what empties rows: these have the mean of the values, or NaN, instead of zeros."""
    hidden = [{masks.hide: filled_with_lowest}, {attention.weigh: lambda scores: torch.softmax(scores, dim=-1)}]
    return [{**replacements, **other} for other in hidden]


def lowered_by(size):
    return lambda scores, mask: scores if mask is None else scores - size * (~mask).to(scores)


fill_tiny = Mutant(
    "MASK-fill-1e-9",
    story="hidden scores become 1e-9, which is not -1e9",
    breaks={"MASK-BOOL-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(1e-9)},
    source="ARENA",
)

fill_plus_infinity = Mutant(
    "MASK-fill-plus-inf",
    story="hidden scores become +inf: the softmax is NaN",
    breaks={"MASK-ROWS-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(INF)},
    source="memory-compressed-attention#2",
)

mask_times_infinity = Mutant(
    "MASK-times-inf",
    story="-inf is multiplied by the mask: 0·inf is NaN where the key is allowed",
    breaks={"MASK-ROWS-1"},
    hint="use masked_fill or torch.where, which multiply nothing",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores - INF * (~mask).to(scores)},
    source="ARENA",
)

fill_1 = Mutant(
    "MASK-fill-1",
    story="hidden scores become -1",
    breaks={"MASK-DELETE-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(-1.0)},
)

fill_20 = Mutant(
    "MASK-fill-20",
    story="hidden scores become -20",
    breaks={"MASK-POISON-1"},
    hint='fill with float("-inf"): e^-20 is 2e-9, not 0',
    replace={masks.hide: filled_with(-20.0)},
    source="survives Stanford CS336's public tests",
)

fill_100 = Mutant(
    "MASK-fill-100",
    story="hidden scores become -100",
    breaks={"MASK-ZERO-1"},
    hint='fill with float("-inf"): e^-100 is not 0, and a score may be lower',
    replace={masks.hide: filled_with(-100.0)},
)

fill_10000 = Mutant(
    "MASK-fill-1e4",
    story="hidden scores become -1e4",
    breaks={"MASK-SHIFT-1"},
    hint='fill with float("-inf"): scores may be lower than -1e4',
    replace={masks.hide: filled_with(-1e4)},
    source="the first GPT-2 of transformers; flashinfer#4401",
)

fill_billion = Mutant(
    "MASK-fill-1e9",
    story="hidden scores become -1e9: a row without keys gives a mean, and float16 has no such number",
    breaks={"MASK-EMPTY-1", "MASK-HALF-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(-1e9)},
    raises={"MASK-HALF-1"},
    source="apex#924; fairseq#3575",
)

lowered_1 = Mutant(
    "MASK-lowered-by-1",
    story="1 is subtracted from hidden scores",
    breaks={"MASK-DELETE-1"},
    hint="add -inf: subtracting 1 leaves a third of the weight",
    replace={masks.hide: lowered_by(1.0)},
    source="tinygrad#2425",
)

lowered_20 = Mutant(
    "MASK-lowered-by-20",
    story="20 is subtracted from hidden scores",
    breaks={"MASK-POISON-1"},
    hint="add -inf",
    replace={masks.hide: lowered_by(20.0)},
)

lowered_10000 = Mutant(
    "MASK-lowered-by-1e4",
    story="1e4 is subtracted from hidden scores",
    breaks={"MASK-POISON-1"},
    hint="add -inf: a score may be larger than 1e4",
    replace={masks.hide: lowered_by(1e4)},
    source="the original BERT",
)

lowered_1e9 = Mutant(
    "MASK-lowered-by-1e9",
    story="1e9 is subtracted from hidden scores: a query without allowed keys attends as if none were hidden",
    breaks={"MASK-EMPTY-1"},
    hint='fill with float("-inf") or a constant: where all scores are lowered alike, the softmax does not change',
    replace={masks.hide: lowered_by(1e9)},
    source="TensorFlow's tutorial on the Transformer",
)

weights_floored = Mutant(
    "MASK-weights-floored",
    story="weights are kept above 1e-20, the hidden ones too",
    breaks={"MASK-ZERO-1"},
    hint="the weight of a hidden key is 0",
    replace={attention.weigh: lambda scores: attention.weigh(scores).clamp_min(1e-20)},
)

# -- after the softmax


def attend_masking_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    _, weights = attention.attend(q, k, v, None, bias, scale, dropout)
    weights = weights if mask is None else weights * mask
    return attention.mix(weights, v), weights


masked_after = Mutant(
    "MASK-after-softmax",
    story="the mask multiplies the weights after the softmax: what is left sums to less than 1",
    breaks={"MASK-ROWS-1"},
    hint="hide the scores before the softmax",
    replace={attention.attend: attend_masking_weights},
)


def renormalise(small):
    def attend(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
        if mask is None:
            return attention.attend(q, k, v, mask, bias, scale, dropout)
        scores = masks.add_bias(attention.score(q, k, attention.default_scale(q) if scale is None else scale), bias)
        left = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
        weights = attention.drop(left / (left.sum(dim=-1, keepdim=True) + small), dropout)
        return attention.mix(weights, v), weights

    return {attention.attend: attend}


renormalised = Mutant(
    "MASK-renormalised",
    story="hidden keys take part in the maximum, and what is left is divided by its sum: it may be 0 / 0",
    breaks={"MASK-NAN-1", "MASK-POISON-1"},
    hint="hide the scores first, then subtract the maximum of what is left",
    replace=renormalise(0.0),
    variants=[renormalise(10.0**-n) for n in range(3, 13)],
)


class ValuesLeak(torch.autograd.Function):
    """Mixes as it should, and sends every key's value a little of every query's gradient."""

    @staticmethod
    def forward(ctx, weights, v):
        ctx.save_for_backward(weights, v)
        return attention.mix(weights, v)

    @staticmethod
    def backward(ctx, g):
        weights, v = ctx.saved_tensors
        hidden = (weights == 0).to(g)
        return g @ v.transpose(-1, -2), (weights + 0.1 * hidden).transpose(-1, -2) @ g


gradient_leaks = Mutant(
    "MASK-gradient-leaks",
    story="a hand-written backward pass sends gradients to hidden values",
    breaks={"MASK-ZEROGRAD-1"},
    hint="mask in the backward pass too",
    replace={attention.mix: lambda weights, v: ValuesLeak.apply(weights, v)},
)

nan_through = Mutant(
    "MASK-nan-through",
    story="NaN in a hidden value goes through the weight 0, as 0·NaN is NaN",
    breaks={"MASK-NAN-1"},
    hint="blank the values that no query may see",
    replace={masks.blank: lambda x, mask: x},
    source="pytorch#101967; flash-attention#1745",
)


def run_unmasked_weights(config, query, key, value, mask, bias, need_weights):
    out = adapter.run_attention(config, query, key, value, mask, bias, False)
    return (out, attention.attend(query, key, value, None, bias, config.scale)[1]) if need_weights else out


unmasked_weights = Mutant(
    "MASK-weights-unmasked",
    story="the weights are returned as they were before masking",
    breaks={"MASK-WEIGHTS-1"},
    hint="return what multiplies the values",
    replace={adapter.run_attention: run_unmasked_weights},
    silent_on={"multi_head_attention": "the replaced function is that of the bare component"},
)

# -- the mask's path and shape


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


def first_of(axis):
    """Return the mask with what its first slice along an axis (from the right) says for all of them."""
    return lambda mask: mask.narrow(axis, 0, 1).expand_as(mask) if mask.ndim >= -axis else mask


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
    source="ONNX op_attention.py",
)

squeezed = Mutant(
    "MASK-squeezed",
    story="axes of size 1 are squeezed out of the mask, and the others meet the wrong axes",
    breaks={"MASK-BROADCAST-1"},
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


overwritten = Mutant(
    "MASK-overwritten",
    story="the causal mask is written into the caller's mask",
    breaks={"MASK-IMMUT-1"},
    hint="write mask & causal, not mask &= causal",
    replace={masks.intersect: intersect_in_place},
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

# -- padding

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


padding_one_more = Mutant(
    "MASK-padding-one-more",
    story="the first padded key after the real ones is seen: lengths are compared with > instead of >=",
    breaks={"MASK-PADDING-1"},
    hint="position < length is real, position >= length is padding",
    replace={masks.key_padding: with_key_mask(one_more)},
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

# -- several masks at once


def either(first, second):
    return first | second if first is not None and second is not None else masks.intersect(first, second)


joined_by_or = Mutant(
    "MASK-joined-by-or",
    story="masks are joined by or: a key is seen if any of them allows it",
    breaks={"MASK-AND-1"},
    hint="first & second",
    replace={masks.intersect: either},
    source="GLM-4-Voice#182",
)

last_mask_wins = Mutant(
    "MASK-last-wins",
    story="of several masks only the last is used",
    breaks={"MASK-AND-1"},
    hint="first & second",
    replace={masks.intersect: lambda first, second: first if second is None else second},
    source="GLM-4-Voice#182",
)


def gather_explicit_or_padding(config, query, key, key_mask, attn_mask):
    return adapter.gather_masks(config, query, key, None if attn_mask is not None else key_mask, attn_mask)


padding_dropped = Mutant(
    "MASK-padding-dropped",
    story="the key mask is dropped where there is an explicit mask",
    breaks={"MASK-AND-1"},
    hint="join both",
    replace={adapter.gather_masks: gather_explicit_or_padding},
    source="keras#22910",
)


def gather_causal_last(config, query, key, key_mask, attn_mask):
    causal = config.causal and attn_mask is None and key_mask is None
    mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
    if config.causal and not causal:
        plain = attn_mask
        return masks.intersect(plain, masks.key_padding(key_mask)) if key_mask is not None else plain
    return mask


causality_dropped = Mutant(
    "MASK-causality-dropped",
    story="causality is dropped where there is a mask",
    breaks={"MASK-AND-1"},
    hint="join the causal mask with the others",
    replace={adapter.gather_masks: gather_causal_last},
    source="xformers#103; pytorch#187413",
)


def gather_one_or_other(config, query, key, key_mask, attn_mask):
    if config.causal and (attn_mask is not None or key_mask is not None):
        raise RuntimeError("a mask cannot be given together with causality")
    return adapter.gather_masks(config, query, key, key_mask, attn_mask)


both_refused = Mutant(
    "MASK-both-refused",
    story="a mask together with causality is refused",
    breaks={"MASK-AND-1"},
    hint="write causality into the mask, or raise NotImplementedError in an adapter",
    replace={adapter.gather_masks: gather_one_or_other},
    raises={"MASK-AND-1"},
    source="F.scaled_dot_product_attention with attn_mask and is_causal",
)

# -- causality


def shifted_causal(shift):
    return lambda queries, keys, offset=0: masks.causal(queries, keys, offset + shift)


causal_strict = Mutant(
    "MASK-causal-strict",
    story="a token does not see itself (diagonal -1), and the first one sees nothing",
    breaks={"MASK-CAUSAL-1"},
    hint="j <= i, torch.tril without a diagonal",
    replace={masks.causal: shifted_causal(-1)},
    variants=emptied({masks.causal: shifted_causal(-1)}),
)

causal_peeking = Mutant(
    "MASK-causal-peeking",
    story="a token sees the next one too (diagonal +1)",
    breaks={"MASK-CAUSAL-1"},
    hint="hide from diagonal=1 on: torch.triu(ones, diagonal=1) is what must not be seen",
    replace={masks.causal: shifted_causal(1)},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

causal_future = Mutant(
    "MASK-causal-future",
    story="a token sees itself and the future instead of the past (triu for tril)",
    breaks={"MASK-CAUSAL-1"},
    hint="torch.tril, or j <= i",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(keys, queries, offset).mT},
    source="jadore801120/attention-is-all-you-need-pytorch#19",
)

causal_ignored = Mutant(
    "MASK-causal-ignored",
    story="attention is not causal where it has to be: the flag is ignored, or the mask that was made for it",
    breaks={"MASK-CAUSAL-1"},
    hint="build the mask from the flag",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, keys)},
    source="pytorch#99282; BONSAI#343",
)

causal_other_corner = Mutant(
    "MASK-causal-other-corner",
    story="the causal diagonal starts from the bottom-right corner, though top-left is declared",
    breaks={"MASK-CAUSAL-2"},
    hint="the offset is 0 for top-left, S - L for bottom-right; declare which",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, keys - queries)},
    source="pytorch#108108; flash-attention#282; tiny-llm#287",
)

causal_middle = Mutant(
    "MASK-causal-middle",
    story="with L and S unequal the causal diagonal is in neither corner: |S - L| always shifts it to the right",
    breaks={"MASK-CAUSAL-2"},
    hint="the offset is S - L with its sign",
    replace={masks.causal: lambda queries, keys, offset=0: masks.causal(queries, keys, abs(keys - queries))},
)


def gather_later_apart(config, query, key, key_mask, attn_mask):
    """Return the mask without causality, which goes with it as an attribute: what is hidden differently."""
    mask = adapter.gather_masks(replace(config, causal=False), query, key, key_mask, attn_mask)
    if config.causal:
        triangle = masks.causal(query.shape[-2], key.shape[-2]).to(query.device)
        mask = torch.ones_like(triangle) if mask is None else mask.clone()
        mask.later = ~triangle
    return mask


def hiding_later_by(change):
    """Return hide for masks that gather_later_apart made."""

    def hide(scores, mask):
        later = getattr(mask, "later", None)
        return masks.hide(scores if later is None else change(scores, later), mask)

    return hide


causal_penalty = Mutant(
    "MASK-causal-penalty",
    story="later tokens are hidden by subtracting 20 from their scores",
    breaks={"MASK-CAUSAL-4"},
    hint='fill with float("-inf"): a later token whose score is 20 higher is seen',
    replace={
        adapter.gather_masks: gather_later_apart,
        masks.hide: hiding_later_by(lambda scores, later: scores - 20.0 * later.to(scores)),
    },
)

causal_fill = Mutant(
    "MASK-causal-fill-1e4",
    story="the scores of later tokens become -1e4",
    breaks={"MASK-CAUSAL-4"},
    hint='fill with float("-inf"): scores may be lower than -1e4',
    replace={
        adapter.gather_masks: gather_later_apart,
        masks.hide: hiding_later_by(lambda scores, later: scores.masked_fill(later, -1e4)),
    },
    source="the masked_bias of the first GPT-2 of transformers",
)


def run_causal(run, change):
    def run_attention(config, query, key, value, mask, bias, need_weights):
        return run(config, change(query) if config.causal else query, key, value, mask, bias, need_weights)

    return run_attention


def run_causal_projected(run, change):
    def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
        changed = change(query) if config.causal else query
        return run(config, weights, changed, key, value, mask, bias, need_weights)

    return run_multi_head


causal_unscaled = Mutant(
    "MASK-causal-unscaled",
    story="the causal path has a scale of its own, twice as large",
    breaks={"MASK-CAUSAL-3"},
    hint="one path for all masks",
    replace={
        adapter.run_attention: run_causal(adapter.run_attention, lambda query: 2 * query),
        adapter.run_multi_head: run_causal_projected(adapter.run_multi_head, lambda query: 2 * query),
    },
)

causal_detached = Mutant(
    "MASK-causal-detached",
    story="no gradient reaches the queries on the causal path",
    breaks={"MASK-CAUSAL-3"},
    hint="one path for all masks",
    replace={
        adapter.run_attention: run_causal(adapter.run_attention, torch.detach),
        adapter.run_multi_head: run_causal_projected(adapter.run_multi_head, torch.detach),
    },
)


def gather_causal_by_default(config, query, key, key_mask, attn_mask):
    mask = adapter.gather_masks(config, query, key, key_mask, attn_mask)
    L, S = query.shape[-2], key.shape[-2]
    return masks.causal(L, S) if mask is None and L == S else mask


causal_by_default = Mutant(
    "MASK-causal-by-default",
    story="where there are as many queries as keys and no mask is given, attention is causal unasked",
    breaks={"MASK-DEFAULT-1"},
    hint="apply causality only where it is asked for",
    replace={adapter.gather_masks: gather_causal_by_default},
    source="TransformerEngine#629; transformers#48172",
)


def attention_with_first_causal_mask(build):
    def component(config, weights):
        seen = []

        def forward(query, key, value, **options):
            if not config.causal:
                return build(config, weights)(query, key, value, **options)
            L, S = query.shape[-2], key.shape[-2]
            seen.append(masks.causal(L, S))
            kept, given = seen[0][:L, :S].expand(L, S), options.pop("attn_mask", None)
            mask = masks.intersect(given, kept)
            return build(replace(config, causal=False), weights)(query, key, value, attn_mask=mask, **options)

        return forward

    return component


causal_of_first_call = Mutant(
    "MASK-causal-of-first-call",
    story="the causal mask of the first call is kept, and a later, longer sequence does not fit",
    breaks={"CALL-REPEAT-1"},
    hint="build the mask for the length at hand, or keep it by its length",
    replace={
        adapter.attention: attention_with_first_causal_mask(adapter.attention),
        adapter.multi_head_attention: attention_with_first_causal_mask(adapter.multi_head_attention),
    },
    raises={"CALL-REPEAT-1"},
)

# -- rows without keys


def empty_rows(scores):
    return torch.isneginf(scores).all(dim=-1, keepdim=True)


empty_nan = Mutant(
    "MASK-empty-nan",
    story="a query without allowed keys gets NaN, though zeros are declared",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0 before the softmax divides 0 by 0, or declare nan",
    replace={attention.weigh: lambda scores: torch.softmax(scores, dim=-1)},
    source="pytorch#41508; pytorch#103749",
)

empty_mean = Mutant(
    "MASK-empty-mean",
    story="a query without allowed keys gets the mean of all values, though zeros are declared",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0, or declare mean",
    replace={attention.weigh: lambda scores: attention.weigh(scores.masked_fill(empty_rows(scores), 0.0))},
)

empty_first = Mutant(
    "MASK-empty-first",
    story="a query without allowed keys gets the first key's value",
    breaks={"MASK-EMPTY-1"},
    hint="set the weights of such rows to 0",
    replace={
        attention.weigh: lambda scores: torch.where(
            empty_rows(scores) & (torch.arange(scores.shape[-1]) == 0), 1.0, attention.weigh(scores)
        )
    },
)


def weigh_by_mode(scores):
    return attention.weigh(scores) if torch.is_grad_enabled() else torch.softmax(scores, dim=-1)


empty_nan_without_grad = Mutant(
    "MASK-empty-nan-without-grad",
    story="a second path, taken without gradients, gives NaN for a query without allowed keys",
    breaks={"MASK-EMPTY-2"},
    hint="the same masked softmax on every path",
    replace={attention.weigh: weigh_by_mode},
    source="pytorch#160064; pytorch#110213",
)


def weigh_whole_sample(scores):
    spoilt = empty_rows(scores).flatten(-3).any(dim=-1)[..., None, None, None]
    return attention.weigh(scores).masked_fill(spoilt, 0.0)


empty_spreads = Mutant(
    "MASK-empty-spreads",
    story="one query without allowed keys blanks the whole sample",
    breaks={"MASK-EMPTY-3"},
    hint="handle such rows one by one",
    replace={attention.weigh: weigh_whole_sample},
    source="pytorch#41508; OLMo#322",
)


def add_minus_infinity(scores, mask):
    return scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -INF).to(scores)


def weigh_repaired_afterwards(scores):
    return torch.softmax(scores, dim=-1).masked_fill(empty_rows(scores), 0.0)


empty_nan_gradient = Mutant(
    "MASK-empty-nan-gradient",
    story="NaN in rows without keys is replaced after the softmax: the output is right, its gradient NaN",
    breaks={"MASK-EMPTY-4"},
    hint="keep NaN from arising: fill such rows before the softmax",
    replace={masks.hide: add_minus_infinity, attention.weigh: weigh_repaired_afterwards},
    source="brevitas#1591; OLMo#322",
)


def attend_blanking_by_mask(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, bias, scale, dropout)
    if bias is None:
        return out, weights
    unseen = torch.isneginf(bias).all(dim=-1, keepdim=True)
    return out.masked_fill(unseen, float("nan")), weights


empty_by_bias = Mutant(
    "MASK-empty-by-bias",
    story="rows without keys are set to zero by the mask alone: a bias of -inf for all keys gives NaN",
    breaks={"MASK-EMPTY-5"},
    hint="look for rows of -inf in the scores, after bias and mask",
    replace={attention.attend: attend_blanking_by_mask},
)

# -- biases


def with_bias(change):
    return lambda scores, bias: scores if bias is None else masks.add_bias(scores, change(bias))


bias_ignored = Mutant(
    "MASK-bias-ignored",
    story="the bias is ignored",
    breaks={"MASK-BIAS-1"},
    hint="add it to the scores",
    replace={masks.add_bias: lambda scores, bias: scores},
)

bias_multiplied = Mutant(
    "MASK-bias-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"MASK-BIAS-1"},
    hint="add it",
    replace={masks.add_bias: lambda scores, bias: scores if bias is None else scores * bias},
)

bias_subtracted = Mutant(
    "MASK-bias-subtracted",
    story="the bias is subtracted",
    breaks={"MASK-BIAS-1"},
    hint="add it; a penalty is a negative bias",
    replace={masks.add_bias: with_bias(torch.neg)},
)


def attend_biased_before_scaling(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    by = attention.default_scale(q) if scale is None else scale
    return attention.attend(q, k, v, mask, None if bias is None else bias * by, scale, dropout)


bias_before_scaling = Mutant(
    "MASK-bias-before-scaling",
    story="the bias is added before the scores are scaled, and scaled with them",
    breaks={"MASK-BIAS-1"},
    hint="scale first, then add",
    replace={attention.attend: attend_biased_before_scaling},
)


def attend_biasing_weights(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    out, weights = attention.attend(q, k, v, mask, None, scale, dropout)
    if bias is None:
        return out, weights
    weights = weights + torch.exp(bias)
    return attention.mix(weights, v), weights


bias_after_softmax = Mutant(
    "MASK-bias-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"MASK-BIAS-1"},
    hint="add it to the scores",
    replace={attention.attend: attend_biasing_weights},
)

bias_of_first_head = Mutant(
    "MASK-bias-of-first-head",
    story="the first head's bias is used for all heads",
    breaks={"MASK-BIAS-4"},
    hint="keep the axis of the heads",
    replace={masks.add_bias: with_bias(first_of(-3))},
)

bias_clamped = Mutant(
    "MASK-bias-clamped",
    story="the bias is clamped to ±10",
    breaks={"MASK-BIAS-2"},
    hint="add it as it is: -inf hides",
    replace={masks.add_bias: with_bias(lambda bias: bias.clamp(-10, 10))},
)

bias_finite = Mutant(
    "MASK-bias-finite",
    story="a bias of -inf becomes -1e4",
    breaks={"MASK-BIAS-2"},
    hint="add it as it is: -inf hides",
    replace={masks.add_bias: with_bias(lambda bias: bias.clamp_min(-1e4))},
)

bias_detached = Mutant(
    "MASK-bias-detached",
    story="no gradient reaches the bias",
    breaks={"MASK-BIAS-3"},
    hint="no detach() on the way from the bias",
    replace={masks.add_bias: with_bias(torch.detach)},
)


def attend_mask_or_bias(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q, k, v, mask, None if mask is not None else bias, scale, dropout)


bias_dropped = Mutant(
    "MASK-bias-dropped",
    story="the bias is dropped where there is a mask",
    breaks={"MASK-ORACLE-1"},
    hint="add the bias, then hide",
    replace={attention.attend: attend_mask_or_bias},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(
        EVERYTHING,
        "MASK-EMPTY-2 MASK-EMPTY-5",
        "rows without keys are compared by kind (zeros, NaN, mean, or none of them)",
    ),
    Vacuous(
        NUMBERS,
        "MASK-ALL-1 MASK-AND-1 MASK-BROADCAST-1 MASK-EMPTY-3 MASK-HEAD-1 MASK-QUERY-1 MASK-SAMPLE-1 MASK-SHIFT-1",
        "two masks that say the same are ignored alike, or obeyed alike",
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform"),
        "MASK-BIAS-2 MASK-CAUSAL-4 MASK-DELETE-1 MASK-HALF-1 MASK-HOLES-1 MASK-NAN-1 MASK-PADDING-1 MASK-POISON-1",
        "what does not read a value has left it out; the uniform one obeys masks",
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform", "nan"),
        "MASK-ZERO-1",
        "what does not read a value has left it out, and NaN equals NaN bit for bit",
    ),
    Vacuous(("echo", *AVERAGES), "MASK-CAUSAL-3", "ignored, or obeyed, with the flag as with the mask"),
    Vacuous(("ones", *AVERAGES), "MASK-ROWS-1", "V = 1 gives 1"),
    Vacuous(AVERAGES, "MASK-DEFAULT-1 MASK-EMPTY-4", "no mask is made up, and the gradients of a mean are finite"),
    Vacuous(("zeros", "uniform"), "MASK-EMPTY-1 MASK-WEIGHTS-1", "zeros are declared; 0·V is 0"),
    Vacuous(("echo", "uniform"), "MASK-ZEROGRAD-1", "no gradient reaches a hidden value"),
    Vacuous(
        ("uniform",),
        "MASK-BIAS-3 MASK-BOOL-1 MASK-CAUSAL-1 MASK-CAUSAL-2 MASK-LONG-1",
        "masks are obeyed: these compare with the mean over the keys that are left",
    ),
)
