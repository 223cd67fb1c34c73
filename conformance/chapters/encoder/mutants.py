"""Ways to get the encoder wrong: the reference with a few functions replaced."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous
from attnconf.reference import attention, encoder, feed_forward, masks
from attnconf.reference import multi_head_attention as mha
from attnconf.reference.layer_norm import layer_norm
from attnconf.reference.rms_norm import rms_norm

# Names that mutants call, so that a mutant reads as the reference does. Replaced ones are called by their own name.
normed, attend, position_wise = encoder.normed, encoder.self_attention, encoder.position_wise
post_norm, pre_norm = encoder.post_norm_layer, encoder.pre_norm_layer


# -- the call

last_token_only = Mutant(
    "ENC-last-token",
    story="only the last token comes out, as a classifier would have it",
    breaks={"CALL-SHAPE-1"},
    hint="return all tokens; pooling is the model's affair",
    replace={encoder.encoder_layer: lambda x, weights, style, mask=None: post_norm(x, weights, style, mask)[:, -1:]},
)


def attend_with_context(x, weights, style, mask):
    out, _ = mha.multi_head_attention(x, x, x, weights, style.num_heads, mask, context=x)
    return out


unknown_argument = Mutant(
    "ENC-unknown-argument",
    story="attention is called with an argument that it does not take",
    breaks={"CALL-SHAPE-1"},
    raises={"CALL-SHAPE-1"},
    hint="call attention with what its forward takes, and run the layer once before training it",
    replace={encoder.self_attention: attend_with_context},
    source="system 1d",
)


def remembering(build):
    def component(config, weights):
        forward, past = build(config, weights), []

        def remember(x, **given):
            if given:
                return forward(x, **given)
            past.append(x)
            return forward(torch.cat(past, dim=1))[:, -x.shape[1] :]

        return remember

    return component


keeps_a_cache = Mutant(
    "ENC-keeps-a-cache",
    story="the tokens of earlier calls are kept and attended to, as in decoding step by step",
    breaks={"CALL-REPEAT-1"},
    hint="an encoder has no cache; empty it before every call",
    replace={
        adapter.encoder_layer: remembering(adapter.encoder_layer),
        adapter.encoder: remembering(adapter.encoder),
    },
)


def remembering_mask(build):
    def component(config, weights):
        forward, kept = build(config, weights), []

        def masked(x, **given):
            kept.append({name: given[name] for name in ("key_mask", "attn_mask") if given.get(name) is not None})
            return forward(x, **{**given, **kept[0]})

        return masked

    return component


first_mask_kept = Mutant(
    "ENC-first-mask-kept",
    story="the mask of the first call is kept for all that follow",
    breaks={"CALL-REPEAT-1"},
    hint="a mask belongs to its batch: make it anew in every call",
    replace={
        adapter.encoder_layer: remembering_mask(adapter.encoder_layer),
        adapter.encoder: remembering_mask(adapter.encoder),
    },
)

# -- residuals and norms


def pre_norm_on_normed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    h = n + attend(n, weights, style, mask)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


residual_from_the_norm = Mutant(
    "ENC-residual-from-norm",
    story="the residual is taken after the norm: n + attention(n) with n = norm(x)",
    breaks={"ENC-PRE-1"},
    hint="keep x: x + attention(norm(x))",
    replace={encoder.pre_norm_layer: pre_norm_on_normed},
    source="pytorch#61165; faster-trajectory-transformer#3; Compact-Transformers#25; burn#1056",
)


def pre_norm_on_second_normed(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    n = normed(h, weights, "norm2", style)
    return n + position_wise(n, weights, style)


second_residual_from_the_norm = Mutant(
    "ENC-second-residual-from-norm",
    story="the second residual is taken after the norm",
    breaks={"ENC-PRE-1"},
    hint="keep h: h + ff(norm(h))",
    replace={encoder.pre_norm_layer: pre_norm_on_second_normed},
)


def pre_norm_on_both_normed(x, weights, style, mask):
    n = normed(x, weights, "norm1", style)
    n = normed(n + attend(n, weights, style, mask), weights, "norm2", style)
    return n + position_wise(n, weights, style)


both_residuals_from_the_norm = Mutant(
    "ENC-both-residuals-from-norm",
    story="both residuals are taken after the norm: x = norm(x), then x + f(x)",
    breaks={"ENC-PRE-1"},
    hint="x + f(norm(x)): the normed x goes into the sublayer, the x that is added to is the one before the norm",
    replace={encoder.pre_norm_layer: pre_norm_on_both_normed},
    source="Compact-Transformers#25",
)


def pre_norm_without_residual(x, weights, style, mask):
    h = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return position_wise(normed(h, weights, "norm2", style), weights, style)


def post_norm_without_residual(x, weights, style, mask):
    h = normed(attend(x, weights, style, mask), weights, "norm1", style)
    return normed(position_wise(h, weights, style), weights, "norm2", style)


no_residual = Mutant(
    "ENC-no-residual",
    story="there is no residual",
    breaks={"ENC-PRE-1", "ENC-POST-1"},
    hint="add what went in to what each sublayer gives",
    replace={encoder.pre_norm_layer: pre_norm_without_residual, encoder.post_norm_layer: post_norm_without_residual},
    source="llm-first-principles, stage 6",
)


always_post = Mutant(
    "ENC-always-post",
    story="norm_first is ignored: the norm always comes after the sum",
    breaks={"ENC-PRE-1"},
    hint='x + f(norm(x)) where norm_first is set, or declare norm-order = "post"',
    replace={encoder.pre_norm_layer: post_norm},
    source="annotated-transformer#13",
)

always_pre = Mutant(
    "ENC-always-pre",
    story="norm_first is ignored: the norm always comes before the sublayer",
    breaks={"ENC-POST-1"},
    hint='norm(x + f(x)) where norm_first is not set, or declare norm-order = "pre"',
    replace={encoder.post_norm_layer: pre_norm},
    source="annotated-transformer#13",
)


def post_norm_inside(x, weights, style, mask):
    h = x + normed(attend(x, weights, style, mask), weights, "norm1", style)
    return h + normed(position_wise(h, weights, style), weights, "norm2", style)


norm_of_the_branch = Mutant(
    "ENC-norm-of-the-branch",
    story="the norm is taken before the sum: x + norm(f(x)), which is neither order",
    breaks={"ENC-POST-1"},
    hint="norm(x + f(x)), or x + f(norm(x))",
    replace={encoder.post_norm_layer: post_norm_inside},
    source="annotated-transformer#110",
)


def post_norm_without_second_residual(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return normed(position_wise(h, weights, style), weights, "norm2", style)


no_second_residual = Mutant(
    "ENC-no-second-residual",
    story="the residual around the feed-forward network is forgotten",
    breaks={"ENC-POST-1"},
    hint="norm2(h + ff(h))",
    replace={encoder.post_norm_layer: post_norm_without_second_residual},
)


def post_norm_around_input(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return normed(x + position_wise(h, weights, style), weights, "norm2", style)


second_residual_from_the_input = Mutant(
    "ENC-second-residual-from-input",
    story="the residual around the feed-forward network is the layer's input",
    breaks={"ENC-POST-1"},
    hint="norm2(h + ff(h)), with h = norm1(x + attention(x))",
    replace={encoder.post_norm_layer: post_norm_around_input},
)


def post_norm_once(x, weights, style, mask):
    h = x + attend(x, weights, style, mask)
    return normed(h + position_wise(h, weights, style), weights, "norm2", style)


one_norm = Mutant(
    "ENC-one-norm",
    story="there is one norm, at the end of the layer",
    breaks={"ENC-POST-1"},
    hint="a norm after each of the two sums",
    replace={encoder.post_norm_layer: post_norm_once},
)


def normed_by_the_other(x, weights, name, style):
    return normed(x, weights, {"norm1": "norm2", "norm2": "norm1"}.get(name, name), style)


swapped_norms = Mutant(
    "ENC-swapped-norms",
    story="norm1 and norm2 are swapped",
    breaks={"ENC-NORM-1"},
    hint="norm1 belongs to attention, norm2 to the feed-forward network",
    replace={encoder.normed: normed_by_the_other},
)

shared_norm = Mutant(
    "ENC-shared-norm",
    story="one norm serves both sublayers",
    breaks={"ENC-NORM-1"},
    hint="two norms, each with its own weight and bias",
    replace={
        encoder.normed: lambda x, weights, name, style: normed(x, weights, "norm1" if name == "norm2" else name, style)
    },
)

bare_norms = Mutant(
    "ENC-bare-norms",
    story="the norms have no gain and no shift",
    breaks={"ENC-POST-1"},
    hint="elementwise_affine=True",
    replace={encoder.normed: lambda x, weights, name, style: layer_norm(x, x.shape[-1:], None, None, style.eps)},
    source="kornia: no test has a gain other than 1",
)


def normed_over_tokens(x, weights, name, style):
    own = encoder.under(weights, name)
    across = layer_norm(x.transpose(1, 2), (x.shape[1],), None, None, style.eps).transpose(1, 2)
    return across * own["weight"] + own.get("bias", 0.0)


norm_over_tokens = Mutant(
    "ENC-norm-over-tokens",
    story="the norms are taken over the tokens instead of the features",
    breaks={"ENC-TOKEN-1"},
    hint="LayerNorm(embed_dim), on (batch, token, feature)",
    replace={encoder.normed: normed_over_tokens},
    source="OpenNMT-tf#6; addons#2142",
)

# -- the two sublayers


def post_norm_network_first(x, weights, style, mask):
    h = normed(x + position_wise(x, weights, style), weights, "norm1", style)
    return normed(h + attend(h, weights, style, mask), weights, "norm2", style)


def pre_norm_network_first(x, weights, style, mask):
    h = x + position_wise(normed(x, weights, "norm2", style), weights, style)
    return h + attend(normed(h, weights, "norm1", style), weights, style, mask)


network_first = Mutant(
    "ENC-network-first",
    story="the feed-forward network comes before attention",
    breaks={"ENC-ORDER-1"},
    hint="attention first",
    replace={encoder.post_norm_layer: post_norm_network_first, encoder.pre_norm_layer: pre_norm_network_first},
)


def pre_norm_side_by_side(x, weights, style, mask):
    attended = attend(normed(x, weights, "norm1", style), weights, style, mask)
    return x + attended + position_wise(normed(x, weights, "norm2", style), weights, style)


side_by_side = Mutant(
    "ENC-side-by-side",
    story="attention and the feed-forward network both get the layer's input, and both are added",
    breaks={"ENC-ORDER-1"},
    hint="h = x + attention(norm1(x)), then h + ff(norm2(h)); the parallel layer is another architecture",
    replace={encoder.pre_norm_layer: pre_norm_side_by_side},
    source="the layers of GPT-J",
)


def post_norm_network_of_input(x, weights, style, mask):
    h = normed(x + attend(x, weights, style, mask), weights, "norm1", style)
    return normed(h + position_wise(x, weights, style), weights, "norm2", style)


network_of_the_input = Mutant(
    "ENC-network-of-input",
    story="the feed-forward network gets the layer's input",
    breaks={"ENC-ORDER-1"},
    hint="norm2(h + ff(h))",
    replace={encoder.post_norm_layer: post_norm_network_of_input},
)


def pre_norm_around_input(x, weights, style, mask):
    h = x + attend(normed(x, weights, "norm1", style), weights, style, mask)
    return x + position_wise(normed(h, weights, "norm2", style), weights, style)


attention_not_carried = Mutant(
    "ENC-attention-not-carried",
    story="x + ff(norm(h)): what attention adds is not in the second residual",
    breaks={"ENC-ORDER-1"},
    hint="h + ff(norm(h)), with h = x + attention(norm(x))",
    replace={encoder.pre_norm_layer: pre_norm_around_input},
)

half_network = Mutant(
    "ENC-half-network",
    story="half of what the feed-forward network gives is added, as in a Conformer",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="add all of it",
    replace={encoder.position_wise: lambda x, weights, style: position_wise(x, weights, style) / 2},
)

activated_twice = Mutant(
    "ENC-activated-twice",
    story="the activation comes after the second linear layer as well",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="no activation after the last linear layer",
    replace={encoder.position_wise: lambda x, weights, style: position_wise(x, weights, style).relu()},
    variants=[
        {encoder.position_wise: lambda x, weights, style: feed_forward.gelu(position_wise(x, weights, style))},
        {encoder.position_wise: lambda x, weights, style: torch.nn.functional.silu(position_wise(x, weights, style))},
        {encoder.position_wise: lambda x, weights, style: position_wise(x, weights, style).tanh()},
    ],
)

not_activated = Mutant(
    "ENC-not-activated",
    story="there is no activation between the two linear layers",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="down(activation(up(x)))",
    replace={
        encoder.position_wise: lambda x, weights, style: position_wise(x, weights, replace(style, activation="none"))
    },
)

tokens_mixed = Mutant(
    "ENC-tokens-mixed",
    story="the feed-forward network gets the mean of the tokens besides each of them",
    breaks={"ENC-TOKEN-1"},
    hint="the network sees one token at a time",
    replace={
        encoder.position_wise: lambda x, weights, style: position_wise(x + x.mean(dim=1, keepdim=True), weights, style)
    },
)

scaled_by_the_model = Mutant(
    "ENC-scaled-by-the-model",
    story="scores are divided by √E of the whole model instead of one head",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="divide by math.sqrt(embed_dim // num_heads)",
    replace={attention.default_scale: lambda q: float((q.shape[-1] * q.shape[1]) ** -0.5)},
)

always_relu = Mutant(
    "ENC-always-relu",
    story="the activation is ReLU, whatever is configured",
    breaks={"ENC-ACT-1"},
    hint="use config.activation, or raise NotImplementedError for the others",
    replace={
        encoder.position_wise: lambda x, weights, style: position_wise(x, weights, replace(style, activation="relu"))
    },
)

always_gelu = Mutant(
    "ENC-always-gelu",
    story="the activation is GELU, whatever is configured",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint='declare activation = "gelu", and raise NotImplementedError for the others',
    replace={
        encoder.position_wise: lambda x, weights, style: position_wise(x, weights, replace(style, activation="gelu"))
    },
)

sigmoid_gelu = Mutant(
    "ENC-sigmoid-gelu",
    story="GELU is x·σ(1.702 x)",
    breaks={"ENC-ACT-1"},
    hint="x·Φ(x), or declare the approximation by tanh; this one is off by up to 0.02",
    replace={feed_forward.gelu: lambda x: x * torch.sigmoid(1.702 * x)},
    source="the QuickGELU of CLIP",
)

# -- who attends to whom


def attend_batch_first(x, weights, style, mask):
    return attend(x.transpose(0, 1), weights, style, mask).transpose(0, 1) if len(x) else x


batch_second = Mutant(
    "ENC-batch-second",
    story="the batch is taken for the sequence: samples attend to one another",
    breaks={"ENC-BATCH-1"},
    hint="batch_first=True; nn.TransformerEncoderLayer has False",
    replace={encoder.self_attention: attend_batch_first},
    source="AEMatter#3",
)

indexed_as_a_tuple = Mutant(
    "ENC-indexed-as-a-tuple",
    story="attention's output is indexed as if it were a pair: all samples get what the first one attends to",
    breaks={"ENC-BATCH-1"},
    hint="out, weights = attention(x), or no [0] where only a tensor comes back",
    replace={
        encoder.self_attention: lambda x, weights, style, mask: attend(x, weights, style, mask)[0] if len(x) else x
    },
    source="system 1d",
)


def banded(x, width):
    at = torch.arange(x.shape[1])
    return (at[:, None] - at).abs() <= width


def attend_to_neighbours(x, weights, style, mask):
    return attend(x, weights, style, masks.intersect(mask, banded(x, 1)))


neighbours_only = Mutant(
    "ENC-neighbours-only",
    story="a token attends to its neighbours only",
    breaks={"ENC-REACH-1"},
    hint="no window where none is asked for",
    replace={encoder.self_attention: attend_to_neighbours},
)

itself_only = Mutant(
    "ENC-itself-only",
    story="a token attends to itself only",
    breaks={"ENC-REACH-1"},
    hint="scores are (L, L) for each head: tokens on the last two axes but one",
    replace={
        encoder.self_attention: lambda x, weights, style, mask: attend(
            x, weights, style, masks.intersect(mask, banded(x, 0))
        )
    },
)


def add_ramp(x):
    return x + 0.1 * torch.arange(x.shape[1], dtype=x.dtype)[:, None]


positions_in_every_layer = Mutant(
    "ENC-positions-in-layer",
    story="every layer adds positions to what attention gets",
    breaks={"ENC-PERM-1", "ENC-LEARN-3"},
    hint="positions are added once, before the first layer",
    replace={encoder.self_attention: lambda x, weights, style, mask: attend(add_ramp(x), weights, style, mask)},
)

gather = adapter.gather_masks


def gather_causally(config, query, key, key_mask, attn_mask):
    return gather(replace(config, causal=True), query, key, key_mask, attn_mask)


always_causal = Mutant(
    "ENC-always-causal",
    story="the encoder is causal though nobody asked for it",
    breaks={"ENC-REACH-1"},
    hint='use config.causal, or declare causality = "always"',
    replace={adapter.gather_masks: gather_causally},
)

never_causal = Mutant(
    "ENC-never-causal",
    story="causal is ignored",
    breaks={"ENC-CAUSAL-1"},
    hint="apply the causal mask, or raise NotImplementedError",
    replace={
        adapter.gather_masks: lambda config, query, key, key_mask, attn_mask: gather(
            replace(config, causal=False), query, key, key_mask, attn_mask
        )
    },
)

one_ahead = Mutant(
    "ENC-one-ahead",
    story="causal attention sees the next token as well",
    breaks={"ENC-CAUSAL-1", "ENC-LEARN-4"},
    hint="query i sees keys 0 … i: triu(diagonal=1) hides the others",
    replace={masks.causal: lambda queries, keys, offset=0: torch.ones(queries, keys, dtype=torch.bool).tril(1)},
)

strictly_earlier = Mutant(
    "ENC-strictly-earlier",
    story="in causal attention a token does not see itself",
    breaks={"ENC-CAUSAL-1"},
    hint="query i sees keys 0 … i, itself among them",
    replace={masks.causal: lambda queries, keys, offset=0: torch.ones(queries, keys, dtype=torch.bool).tril(-1)},
)

# -- padding and masks

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

# -- a stack

encode_once, under, count = encoder.encoder_layer, encoder.under, encoder.count_layers


def ending(x, weights, style):
    return normed(x, weights, "norm", style) if "norm.weight" in weights else x


def mask_for_the_first(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask if i == 0 else None)
    return ending(x, weights, style)


mask_in_first_layer = Mutant(
    "ENC-mask-in-first-layer",
    story="only the first layer gets the masks",
    breaks={"ENC-DEPTH-1"},
    hint="pass the masks on in the loop over the layers: what leaks in one of them has leaked",
    replace={encoder.encoder: mask_for_the_first},
)


def mask_for_the_last(x, weights, style, mask=None):
    last = count(weights) - 1
    for i in range(last + 1):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask if i == last else None)
    return ending(x, weights, style)


mask_in_last_layer = Mutant(
    "ENC-mask-in-last-layer",
    story="only the last layer gets the masks",
    breaks={"ENC-DEPTH-1"},
    hint="pass the masks on to every layer",
    replace={encoder.encoder: mask_for_the_last},
)


def one_layer_for_all(x, weights, style, mask=None):
    for _ in range(count(weights)):
        x = encode_once(x, under(weights, "layers.0"), style, mask)
    return ending(x, weights, style)


shared_layer = Mutant(
    "ENC-shared-layer",
    story="one layer is applied N times: all entries of the list are the same object",
    breaks={"ENC-OWN-1"},
    hint="build each one: [Layer() for _ in range(N)], not [layer] * N",
    replace={encoder.encoder: one_layer_for_all},
    source="encodecmae#3",
)


def with_part_of_the_first(part):
    def stack(x, weights, style, mask=None):
        for i in range(count(weights)):
            own = under(weights, f"layers.{i}")
            shared = {f"{part}.{name}": w for name, w in under(weights, f"layers.0.{part}").items()}
            x = encode_once(x, {**own, **shared}, style, mask)
        return ending(x, weights, style)

    return stack


shared_network = Mutant(
    "ENC-shared-network",
    story="all layers have the same feed-forward network",
    breaks={"ENC-OWN-1"},
    hint="build the network inside the loop, or copy.deepcopy it",
    replace={encoder.encoder: with_part_of_the_first("ff")},
    source="espnet#1278",
)

shared_attention = Mutant(
    "ENC-shared-attention",
    story="all layers have the same attention",
    breaks={"ENC-OWN-1"},
    hint="build attention inside the loop, or copy.deepcopy it",
    replace={encoder.encoder: with_part_of_the_first("attn")},
    source="annotated-transformer, without its deepcopy",
)


def one_layer_less(x, weights, style, mask=None):
    for i in range(max(count(weights) - 1, 1)):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return ending(x, weights, style)


def without_the_last(x, weights, style, mask=None):
    for i in range(count(weights) - 1):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return ending(x, weights, style)


layer_left_out = Mutant(
    "ENC-layer-left-out",
    story="the last of several layers is left out",
    breaks={"ENC-OWN-1"},
    hint="range(N), not range(N - 1)",
    replace={encoder.encoder: one_layer_less},
    source="continual-inference#70",
    variants=[{encoder.encoder: without_the_last}],
)


def one_layer_more(x, weights, style, mask=None):
    n = count(weights)
    for i in [*range(n), *([0] if n > 1 else [])]:
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return ending(x, weights, style)


prototype_applied = Mutant(
    "ENC-prototype-applied",
    story="the layer that the others were copied from is applied as well",
    breaks={"ENC-STACK-1"},
    hint="N layers, each applied once",
    replace={encoder.encoder: one_layer_more},
)


def last_layer_first(x, weights, style, mask=None):
    for i in reversed(range(count(weights))):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return ending(x, weights, style)


reversed_layers = Mutant(
    "ENC-reversed",
    story="layers are applied from the last to the first",
    breaks={"ENC-STACK-1"},
    hint="layer 0 gets the input",
    replace={encoder.encoder: last_layer_first},
)


def input_added_again(x, weights, style, mask=None):
    y = x
    for i in range(count(weights)):
        y = encode_once(y if i == 0 else x + y, under(weights, f"layers.{i}"), style, mask)
    return ending(y, weights, style)


def last_alone(x, weights, style, mask=None):
    y = x
    for i in range(count(weights)):
        y = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return ending(y, weights, style)


every_layer_from_the_input = Mutant(
    "ENC-every-layer-from-the-input",
    story="every layer gets the input of the stack: only the last one has an effect",
    breaks={"ENC-OWN-1"},
    hint="x = layer(x), not out = layer(x)",
    replace={encoder.encoder: last_alone},
)

input_in_every_layer = Mutant(
    "ENC-input-in-every-layer",
    story="the input of the stack is added before every layer",
    breaks={"ENC-STACK-1"},
    hint="residuals are within layers; a layer gets what the one before it gave",
    replace={encoder.encoder: input_added_again},
)


def without_last_norm(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = encode_once(x, under(weights, f"layers.{i}"), style, mask)
    return x


no_last_norm = Mutant(
    "ENC-no-last-norm",
    story="the last norm is missing",
    breaks={"ENC-FINAL-1"},
    hint="a pre-norm stack ends with a norm: its residual is never normalized otherwise",
    replace={encoder.encoder: without_last_norm},
    source="llm-first-principles, stage 6",
)


def norm_after_each(x, weights, style, mask=None):
    for i in range(count(weights)):
        x = ending(encode_once(x, under(weights, f"layers.{i}"), style, mask), weights, style)
    return x


last_norm_after_each = Mutant(
    "ENC-last-norm-after-each",
    story="the last norm is applied after every layer",
    breaks={"ENC-FINAL-1"},
    hint="after the loop, not in it",
    replace={encoder.encoder: norm_after_each},
)


def norm_before_layers(x, weights, style, mask=None):
    return without_last_norm(ending(x, weights, style), weights, style, mask)


last_norm_first = Mutant(
    "ENC-last-norm-first",
    story="the last norm is applied before the first layer",
    breaks={"ENC-FINAL-1"},
    hint="after the loop",
    replace={encoder.encoder: norm_before_layers},
)


def norm_of_last_layer(x, weights, style, mask=None):
    last = f"layers.{count(weights) - 1}.norm2"
    x = without_last_norm(x, weights, style, mask)
    return normed(x, weights, last, style) if "norm.weight" in weights else x


last_norm_borrowed = Mutant(
    "ENC-last-norm-borrowed",
    story="the last norm is norm2 of the last layer, once more",
    breaks={"ENC-FINAL-1"},
    hint="a norm with weights of its own",
    replace={encoder.encoder: norm_of_last_layer},
)


def norm_in_any_case(x, weights, style, mask=None):
    x = without_last_norm(x, weights, style, mask)
    bare = layer_norm(x, x.shape[-1:], eps=style.eps)
    return ending(x, weights, style) if "norm.weight" in weights else bare


last_norm_unasked = Mutant(
    "ENC-last-norm-unasked",
    story="the stack ends with a norm that nobody asked for",
    breaks={"ENC-PRE-1", "ENC-POST-1"},
    hint='use config.final_norm, or declare final-norm = "always"',
    replace={encoder.encoder: norm_in_any_case},
    source="pytorch#55270; annotated-transformer#92",
)

# -- modes and training


def gather_in_evaluation(config, query, key, key_mask, attn_mask):
    fast = not config.training and not torch.is_grad_enabled()
    return gather(config, query, key, None if fast else key_mask, attn_mask)


fast_path_without_mask = Mutant(
    "ENC-fast-path-without-mask",
    story="the fast path for evaluation without gradients drops key_mask",
    breaks={"ENC-MODE-2"},
    hint="compare evaluation under no_grad with training, with a mask",
    replace={adapter.gather_masks: gather_in_evaluation},
    source="pytorch#86120",
)


def choose_by_mode(x, weights, style, mask=None):
    layer = pre_norm if style.norm_first and torch.is_grad_enabled() else post_norm
    return layer(x, weights, style, mask)


fast_path_post_norm = Mutant(
    "ENC-fast-path-post-norm",
    story="the fast path without gradients knows post-norm only",
    breaks={"CALL-MODE-1"},
    hint="take the fast path for what it can do",
    replace={encoder.encoder_layer: choose_by_mode},
)


def dropping_in(weights_=False, attention_=False, hidden_=False, network_=False):
    """Return what drops in evaluation, in some places only: attention's weights, its output, hidden features, …"""

    def attended(x, weights, style, mask):
        p = style.dropout
        own = under(weights, "attn")
        out, _ = mha.multi_head_attention(x, x, x, own, style.num_heads, mask, dropout=p if weights_ else 0.0)
        return attention.drop(out, p if attention_ else 0.0)

    def thought(x, weights, style):
        p = style.dropout
        out = feed_forward.feed_forward(x, under(weights, "ff"), style.activation, p if hidden_ else 0.0)
        return attention.drop(out, p if network_ else 0.0)

    return {
        adapter.active_dropout: lambda config: config.dropout,
        encoder.self_attention: attended,
        encoder.position_wise: thought,
    }


dropout_in_evaluation = Mutant(
    "ENC-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"ENC-DROP-1"},
    hint="F.dropout(x, p, self.training): its default is training=True",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="nanoGPT#240; pytorch#124464; timm#1978; torchvision#7103",
    variants=[
        dropping_in(weights_=True),
        dropping_in(network_=True),
        dropping_in(attention_=True, network_=True),
        dropping_in(hidden_=True),
        dropping_in(hidden_=True, network_=True),
    ],
)


def pre_norm_dropping_sum(x, weights, style, mask):
    h = encoder.drop(x + attend(normed(x, weights, "norm1", style), weights, style, mask), style.dropout)
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


dropout_on_the_residual = Mutant(
    "ENC-dropout-on-residual",
    story="dropout is applied to the sum, residual and all",
    breaks={"ENC-DROP-2"},
    hint="x + dropout(attention(norm(x)))",
    replace={encoder.pre_norm_layer: pre_norm_dropping_sum},
)


def attend_dropping_input(x, weights, style, mask):
    dropped = encoder.drop(x, style.dropout)
    return attend(dropped, weights, replace(style, dropout=0.0), mask)


dropout_before_attention = Mutant(
    "ENC-dropout-before-attention",
    story="dropout is applied to what attention gets instead of what it gives",
    breaks={"ENC-DROP-2"},
    hint="x + dropout(attention(x))",
    replace={encoder.self_attention: attend_dropping_input},
)


def network_dropping_hidden(x, weights, style):
    return feed_forward.feed_forward(x, encoder.under(weights, "ff"), style.activation, style.dropout)


no_dropout_after_network = Mutant(
    "ENC-no-dropout-after-network",
    story="what the feed-forward network gives is not dropped, though what attention gives is",
    breaks={"ENC-DROP-2"},
    hint="h + dropout(ff(h))",
    replace={encoder.position_wise: network_dropping_hidden},
)

cut_off = Mutant(
    "ENC-cut-off",
    story="a layer's input is detached",
    breaks={"ENC-GRAD-1"},
    follows={"ENC-LEARN-1", "ENC-LEARN-2"},
    hint="no detach, no numpy, no .data in forward",
    replace={encoder.self_attention: lambda x, weights, style, mask: attend(x.detach(), weights, style, mask).detach()},
)


def normed_by_data(x, weights, name, style):
    return normed(x, {key: w.detach() for key, w in weights.items()}, name, style)


norms_do_not_learn = Mutant(
    "ENC-norms-do-not-learn",
    story="gains and shifts of the norms do not learn",
    breaks={"ENC-GRAD-1"},
    hint="make them parameters: no buffer, no .data",
    replace={encoder.normed: normed_by_data},
)


def position_wise_without_gradient(x, weights, style):
    with torch.no_grad():
        return position_wise(x, weights, style)


network_does_not_learn = Mutant(
    "ENC-network-does-not-learn",
    story="the feed-forward network runs under no_grad",
    breaks={"ENC-GRAD-1"},
    hint="no_grad is for evaluation, outside the layer",
    replace={encoder.position_wise: position_wise_without_gradient},
)


def attend_unmasked_backwards(x, weights, style, mask):
    out = attend(x, weights, style, mask)
    if mask is None:
        return out
    unmasked = attend(x, weights, style, None)
    return out.detach() + unmasked - unmasked.detach()


backward_without_mask = Mutant(
    "ENC-backward-without-mask",
    story="a hand-written backward pass forgets the mask",
    breaks={"ENC-GRAD-2"},
    hint="mask in the backward pass, too; or leave it to autograd",
    replace={encoder.self_attention: attend_unmasked_backwards},
)


def attend_half_backwards(x, weights, style, mask):
    out = attend(x, weights, style, mask)
    return (out + out.detach()) / 2


half_a_gradient = Mutant(
    "ENC-half-a-gradient",
    story="half the gradient of attention is lost on the way back",
    breaks={"ENC-ORACLE-1", "ENC-ORACLE-2"},
    hint="compare gradients with autograd's in float64",
    replace={encoder.self_attention: attend_half_backwards},
)

# -- configuration

eps_ignored = Mutant(
    "ENC-eps-ignored",
    story="ε is 1e-5, whatever is configured",
    breaks={"ENC-EPS-1"},
    hint="pass layer_norm_eps on",
    replace={
        encoder.normed: lambda x, weights, name, style: normed(x, weights, name, replace(style, eps=1e-5)),
    },
)

eps_of_one_norm = Mutant(
    "ENC-eps-of-one-norm",
    story="the configured ε reaches norm1 only",
    breaks={"ENC-EPS-1"},
    hint="pass it to all norms",
    replace={
        encoder.normed: lambda x, weights, name, style: normed(
            x, weights, name, style if name == "norm1" else replace(style, eps=1e-5)
        ),
    },
)

always_layer_norm = Mutant(
    "ENC-always-layer-norm",
    story="the norm is a layer norm, whatever is configured",
    breaks={"ENC-KIND-1"},
    hint="use config.norm, or raise NotImplementedError",
    replace={
        encoder.normed: lambda x, weights, name, style: normed(x, weights, name, replace(style, norm="layer")),
    },
)


def position_wise_without_gate(x, weights, style):
    return position_wise(x, {name: w for name, w in weights.items() if ".gate." not in name}, style)


gate_ignored = Mutant(
    "ENC-gate-ignored",
    story="the gate is ignored",
    breaks={"ENC-KIND-1"},
    hint="activation(gate(x)) * up(x), or raise NotImplementedError for gated",
    replace={encoder.position_wise: position_wise_without_gate},
)


def position_wise_swapped(x, weights, style):
    swapped = {"ff.gate": "ff.up", "ff.up": "ff.gate"}
    gated = "ff.gate.weight" in weights
    own = {
        ".".join([swapped.get(name.rpartition(".")[0], name.rpartition(".")[0]), name.rpartition(".")[2]]): w
        for name, w in weights.items()
    }
    return position_wise(x, own if gated else weights, style)


gate_and_up_swapped = Mutant(
    "ENC-gate-and-up-swapped",
    story="the activation is applied to up instead of gate",
    breaks={"ENC-KIND-1"},
    hint='activation(gate(x)) * up(x), or declare glu-activated = "up"',
    replace={encoder.position_wise: position_wise_swapped},
)


def normed_without_mean(x, weights, name, style):
    own = encoder.under(weights, name)
    if "bias" in own or style.norm == "rms":
        return normed(x, weights, name, style)
    return rms_norm(x, own["weight"], style.eps)


no_bias_no_mean = Mutant(
    "ENC-no-bias-no-mean",
    story="without biases the layer norm does not subtract the mean either",
    breaks={"ENC-BIAS-1"},
    hint="LayerNorm(bias=False) still subtracts the mean; what does not is an RMS norm",
    replace={encoder.normed: normed_without_mean},
)


def position_wise_with_bias(x, weights, style):
    return position_wise(x, weights, style) + 0.0 * weights["ff.down.bias"]


bias_needed = Mutant(
    "ENC-bias-needed",
    story="without biases the layer raises KeyError",
    breaks={"ENC-BIAS-1"},
    raises={"ENC-BIAS-1"},
    hint="take bias=False, or raise NotImplementedError",
    replace={encoder.position_wise: position_wise_with_bias},
)

# -- precision


def project_wide_coarsely(x, weight, bias):
    if weight.shape[0] % 64:
        return mha.project(x, weight, bias)
    return mha.project(x.bfloat16().to(x), weight, bias)


wide_in_half = Mutant(
    "ENC-wide-in-half",
    story="projections whose width is a multiple of 64 round their inputs to bfloat16",
    breaks={"ENC-TORCH-1"},
    hint="the fast matrix product must not lower the precision of float32 and float64",
    replace={mha.project: project_wide_coarsely},
)


def position_wise_in_bfloat16(x, weights, style):
    if x.dtype != torch.float32:
        return position_wise(x, weights, style)
    return position_wise(x.bfloat16(), {name: w.bfloat16() for name, w in weights.items()}, style).float()


autocast_left_on = Mutant(
    "ENC-autocast-left-on",
    story="the feed-forward network runs in bfloat16 where float32 is asked for",
    breaks={"ENC-HALF-1"},
    hint="autocast is the caller's choice",
    replace={encoder.position_wise: position_wise_in_bfloat16},
)


# -- learning


def attention_cut_in_single(x, weights, style, mask):
    out = encoder.self_attention(x, weights, style, mask)
    return out.detach() if x.dtype == torch.float32 else out


attention_cut = Mutant(
    "ENC-attention-cut",
    story="in float32 attention passes no gradient on, and is never trained",
    breaks={"ENC-LEARN-1", "ENC-LEARN-2"},
    hint="a fused kernel needs a backward pass in every dtype that it has a forward pass for",
    replace={encoder.self_attention: attention_cut_in_single},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(("echo",), "ENC-LEARN-3 ENC-LEARN-4", "what learns nothing learns no order, and foresees nothing"),
    Vacuous((*NUMBERS, "random"), "ENC-LENGTH-1", "finite numbers, as many as there are tokens"),
    Vacuous(
        NUMBERS,
        "ENC-TOKEN-1 ENC-BATCH-1 ENC-PERM-1 ENC-CAUSAL-1 ENC-PAD-1 ENC-ALONE-1 ENC-MASK-1 ENC-MASK-2 ENC-MASK-3 "
        "ENC-DEPTH-1 ENC-DROP-1 ENC-DROP-2 ENC-BIAS-1",
        "an output that depends on its own token, or on nothing, depends on no other, no mask, no mode and no weight",
    ),
    Vacuous(
        CONSTANT,
        "ENC-ORDER-1",
        "the same for every input",
        components=(
            "encoder_layer",
            "encoder",
        ),
    ),
    Vacuous(NUMBERS, "ENC-STACK-1", "many times the same or the identity is once the same"),
    Vacuous(("echo",), "ENC-PRE-1 ENC-GRAD-2", "the identity, whose gradient autograd knows"),
    Vacuous(("random",), "ENC-REACH-1 ENC-OWN-1", "noise changes with every token and every weight"),
)
