"""Ways to get T5's relative bias wrong: in attention."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks
from attnconf.reference import relative_bias as t5


def attending(scores, after=lambda weights, bias: weights):
    """Return relative_bias_attention with scores(q, k, bias), and weights changed after the softmax."""

    def relative_bias_attention(q, k, v, table, max_distance=128, causal=False):
        if table is None:
            return t5.relative_bias_attention(q, k, v, None)
        L, S = q.shape[-2], k.shape[-2]
        bias = t5.bias(table, L, S, max_distance, not causal)
        weights = attention.weigh(masks.hide(scores(q, k, bias), masks.causal(L, S) if causal else None))
        return attention.mix(after(weights, bias), v)

    return relative_bias_attention


def product(q, k, scale=1.0):
    return attention.score(q, k, scale)


scaled = Mutant(
    "REL-scaled",
    story="the scores are divided by √E, where none is declared",
    breaks={"REL-SCALE-1"},
    hint='T5 does not scale: its queries were initialised smaller instead; else declare "t5-scale": "sqrt"',
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k, q.shape[-1] ** -0.5) + bias)},
)

bias_scaled = Mutant(
    "REL-bias-scaled",
    story="the bias is divided by √E",
    breaks={"REL-ENTRY-1"},
    hint="add the entry of the table itself",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k) + bias * q.shape[-1] ** -0.5)},
)

multiplied = Mutant(
    "REL-multiplied",
    story="the scores are multiplied by the bias",
    breaks={"REL-ADD-1"},
    hint="add the bias to the scores",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k) * bias)},
)

after_softmax = Mutant(
    "REL-after-softmax",
    story="the bias is added to the weights, after the softmax",
    breaks={"REL-ADD-1"},
    hint="add the bias to the scores, before the softmax",
    replace={
        t5.relative_bias_attention: attending(
            lambda q, k, bias: product(q, k), lambda weights, bias: weights + bias * (weights > 0)
        )
    },
    variants=[
        {  # what causality hides gets its bias, too
            t5.relative_bias_attention: attending(
                lambda q, k, bias: product(q, k), lambda weights, bias: weights + bias
            )
        },
    ],
)

causality_ignored = Mutant(
    "REL-not-causal",
    story="the buckets of one direction are taken for the causal mask",
    breaks={"REL-CAUSAL-1"},
    hint="bucket 0 hides nothing: the causal mask is needed as well",
    replace={
        t5.relative_bias_attention: lambda q, k, v, table, max_distance=128, causal=False: attention.attend(
            q,
            k,
            v,
            None,
            None if table is None else t5.bias(table, q.shape[-2], k.shape[-2], max_distance, not causal),
            scale=1.0,
        )[0]
    },
)


def by_sample(q, k, bias):
    """The heads of all samples on one axis, head by head instead of sample by sample."""
    B, H = q.shape[:2]
    return product(q, k) + bias.repeat_interleave(B, dim=0).unflatten(0, (B, H))


bias_by_sample = Mutant(
    "REL-bias-by-sample",
    story="the bias is repeated for an axis of B·H in the wrong order: samples get other heads' biases",
    breaks={"REL-SAMPLE-1"},
    hint="where samples and heads share an axis the heads run fastest: repeat, not repeat_interleave",
    replace={t5.relative_bias_attention: attending(by_sample)},
)


def biased_across(q, k, v, table, max_distance=128, causal=False):
    if table is None:
        table = torch.linspace(-1, 1, 32, dtype=q.dtype)[:, None].expand(-1, q.shape[1])
    return t5.relative_bias_attention(q, k, v, table, max_distance, causal)


bias_across = Mutant(
    "REL-bias-across",
    story="cross-attention has a bias of its own",
    breaks={"REL-CROSS-1"},
    hint="keys of another sequence have no positions relative to the query: no bias",
    replace={t5.relative_bias_attention: biased_across},
    source="transformers#8518",
)


def causal_across(q, k, v, table, max_distance=128, causal=False):
    return t5.relative_bias_attention(q, k, v, table, max_distance, causal or table is None)


mask_across = Mutant(
    "REL-mask-across",
    story="cross-attention in a decoder is causal",
    breaks={"REL-CROSS-1"},
    hint="the whole of the other sequence is seen",
    replace={t5.relative_bias_attention: causal_across},
)

keys_cut_off = Mutant(
    "REL-keys-cut-off",
    story="no gradient reaches the keys",
    breaks={"REL-ORACLE-1"},
    hint="keep keys attached to what they are made of",
    replace={t5.relative_bias_attention: attending(lambda q, k, bias: product(q, k.detach()) + bias)},
)

heads_merged = Mutant(
    "REL-heads-merged",
    story="the output comes back with its heads side by side, (B, L, H·E)",
    breaks={"CALL-SHAPE-1"},
    hint="return (B, H, L, E), the shape of the query",
    replace={
        t5.relative_bias_attention: lambda q, k, v, table, max_distance=128, causal=False: (
            t5.relative_bias_attention(q, k, v, table, max_distance, causal).transpose(1, 2).flatten(2)
        )
    },
)


def with_last_row_frozen(table, buckets):
    return t5.look_up(torch.cat([table[:-1], table[-1:].detach()]), buckets)


last_row_frozen = Mutant(
    "REL-padding-last",
    story="the last bucket is taken for padding: its entry is never trained",
    breaks={"REL-GRAD-1"},
    hint="no padding_idx, not -1 either: the last bucket is for the keys that are furthest away",
    replace={t5.look_up: with_last_row_frozen},
)


def scaled_across(q, k, v, table, max_distance=128, causal=False):
    scale = q.shape[-1] ** -0.5 if table is None else 1.0
    return t5.relative_bias_attention(scale * q, k, v, table, max_distance, causal)


scale_across = Mutant(
    "REL-scale-across",
    story="cross-attention divides the scores by √E, self-attention does not",
    breaks={"REL-CROSS-2"},
    hint="T5 scales nowhere: hand scale=1 to the attention of both",
    replace={t5.relative_bias_attention: scaled_across},
)
