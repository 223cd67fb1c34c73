"""Ways to get the encoder wrong: padding and masks."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.encoder.mutants.shared import gather
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import masks

key_mask_ignored = Mutant(
    "ENC-key-mask-ignored",
    story="key_mask is ignored",
    breaks={"ENC-PAD-1"},
    hint="pass src_key_padding_mask on to attention",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            config, query, key, None, attn_mask
        )
    },
)

key_mask_inverted = Mutant(
    "ENC-key-mask-inverted",
    story="key_mask is taken to be True where there is padding",
    breaks={"ENC-PAD-1"},
    hint="True = may attend here; torch's key_padding_mask is the opposite: pass ~key_mask",
    replace={masks.key_padding: lambda key_mask: ~key_mask[:, None, None, :]},
    source="annotated-transformer, and others",
)

key_mask_on_queries = Mutant(
    "ENC-key-mask-on-queries",
    story="key_mask is laid along the queries",
    breaks={"ENC-PAD-1"},
    hint="key_mask[:, None, None, :]: the last axis of the scores is the keys",
    replace={masks.key_padding: lambda key_mask: key_mask[:, None, :, None]},
    source="hyunwoongko/transformer#40",
)

first_samples_mask = Mutant(
    "ENC-first-samples-mask",
    story="the first sample's key_mask is used for all",
    breaks={"ENC-PAD-1"},
    hint="one row of the mask for each sample",
    replace={masks.key_padding: lambda key_mask: key_mask[:1, None, None, :]},
)

weak_fill = Mutant(
    "ENC-weak-fill",
    story="what is hidden gets a score of -20",
    breaks={"ENC-PAD-1", "ENC-MASK-1", "ENC-CAUSAL-1"},
    hint="masked_fill with -inf, or with the smallest number of the dtype",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, -20.0)},
)


def zeroing(build):
    def component(config, weights):
        forward = build(config, weights)

        def zeroed(x, *, key_mask=None, attn_mask=None):
            x = x if key_mask is None else x * key_mask[..., None]
            return forward(x) if attn_mask is None else forward(x, attn_mask=attn_mask)

        return zeroed

    return component


padding_zeroed = Mutant(
    "ENC-padding-zeroed",
    story="padding is set to zero, and attended to",
    breaks={"ENC-ALONE-1"},
    hint="a zero vector has a score, too: hide it by a mask",
    replace={adapter.encoder_layer: zeroing(adapter.encoder_layer), adapter.encoder: zeroing(adapter.encoder)},
)


def trimming(build):
    def component(config, weights):
        forward = build(config, weights)

        def trimmed(x, *, key_mask=None, **given):
            if key_mask is None:
                return forward(x, **given)
            longest = int((key_mask * torch.arange(1, x.shape[1] + 1)).max())
            return forward(x, key_mask=key_mask, **given)[:, : max(longest, 1)]

        return trimmed

    return component


trimmed = Mutant(
    "ENC-trimmed",
    story="columns that are padding in all samples are cut off: the output is as long as the longest sentence",
    breaks={"ENC-LENGTH-1"},
    hint="pad the output to the length of x again",
    replace={adapter.encoder_layer: trimming(adapter.encoder_layer), adapter.encoder: trimming(adapter.encoder)},
    source="pytorch#97111",
)


def blanking(build):
    def component(config, weights):
        forward = build(config, weights)

        def blanked(x, *, key_mask=None, **given):
            if key_mask is None:
                return forward(x, **given)
            return forward(x, key_mask=key_mask, **given).masked_fill(~key_mask[..., None], torch.nan)

        return blanked

    return component


padding_is_nan = Mutant(
    "ENC-padding-is-nan",
    story="the output at padding is NaN",
    breaks={"ENC-LENGTH-1"},
    hint="a mean over the tokens, or a loss times 0, would be NaN: give numbers, whichever",
    replace={adapter.encoder_layer: blanking(adapter.encoder_layer), adapter.encoder: blanking(adapter.encoder)},
    source="pytorch#41508",
)


def gather_unless_empty(config, query, key, key_mask, attn_mask):
    whole = key_mask is None or bool(key_mask.any(dim=-1).all())
    return gather(config, query, key, key_mask if whole else None, attn_mask)


unmasked_where_one_is_empty = Mutant(
    "ENC-unmasked-where-empty",
    story="where a sample is nothing but padding, the masks of all samples are dropped to avoid NaN",
    breaks={"ENC-EMPTY-1"},
    hint="handle the empty sample by itself",
    replace={adapter.gather_masks: gather_unless_empty},
)

attn_mask_ignored = Mutant(
    "ENC-attn-mask-ignored",
    story="attn_mask is ignored",
    breaks={"ENC-MASK-1"},
    hint="pass src_mask on to attention",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(config, query, key, key_mask, None)
    },
)

attn_mask_inverted = Mutant(
    "ENC-attn-mask-inverted",
    story="attn_mask is taken to be True where a key is hidden",
    breaks={"ENC-MASK-1"},
    hint="True = may attend here; nn.TransformerEncoderLayer wants the opposite: pass ~attn_mask",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            config, query, key, key_mask, None if attn_mask is None else ~attn_mask
        )
    },
)

attn_mask_turned = Mutant(
    "ENC-attn-mask-turned",
    story="rows and columns of attn_mask are swapped",
    breaks={"ENC-MASK-1"},
    hint="queries are rows, keys are columns",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            config, query, key, key_mask, None if attn_mask is None else attn_mask.transpose(-1, -2)
        )
    },
)

one_mask_for_all = Mutant(
    "ENC-one-mask-for-all",
    story="where every sample has a mask, the first one's is used for all",
    breaks={"ENC-MASK-2"},
    hint="a mask may be (B, 1, L, L): keep its first axis",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            config, query, key, key_mask, attn_mask if attn_mask is None or attn_mask.ndim < 4 else attn_mask[:1]
        )
    },
)


def unite(first, second):
    if first is None or second is None:
        return second if first is None else first
    return first | second


masks_united = Mutant(
    "ENC-masks-united",
    story="a key is seen where either mask allows it",
    breaks={"ENC-MASK-3"},
    hint="True = may attend: both must allow it, which is &",
    replace={masks.intersect: unite},
)

one_mask_of_two = Mutant(
    "ENC-one-mask-of-two",
    story="where attn_mask is given, key_mask is ignored",
    breaks={"ENC-MASK-3"},
    hint="combine them: attn_mask & key_mask[:, None, None, :]",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            config, query, key, key_mask if attn_mask is None else None, attn_mask
        )
    },
)
