"""Ways to get the encoder wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.encoder.mutants.shared import attend, normed, position_wise, post_norm
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder
from attnconf.reference import multi_head_attention as mha

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


def in_float32(build):
    def component(config, weights):
        forward = build(config, weights)
        return lambda x, **given: forward(x, **given).float()

    return component


float32_out = Mutant(
    "ENC-float32-out",
    story="the output is float32, whatever the input is",
    breaks={"CALL-DTYPE-1"},
    hint="cast back to the dtype of x",
    replace={
        adapter.encoder_layer: in_float32(adapter.encoder_layer),
        adapter.encoder: in_float32(adapter.encoder),
    },
)


def add_in_place(x, y):
    return x + y if x.requires_grad or y.requires_grad else x.add_(y)


def pre_norm_in_place(x, weights, style, mask):
    h = add_in_place(x, attend(normed(x, weights, "norm1", style), weights, style, mask))
    return h + position_wise(normed(h, weights, "norm2", style), weights, style)


def pre_norm_all_in_place(x, weights, style, mask):
    h = add_in_place(x, attend(normed(x, weights, "norm1", style), weights, style, mask))
    return add_in_place(h, position_wise(normed(h, weights, "norm2", style), weights, style))


def post_norm_in_place(x, weights, style, mask):
    h = normed(add_in_place(x, attend(x, weights, style, mask)), weights, "norm1", style)
    return normed(add_in_place(h, position_wise(h, weights, style)), weights, "norm2", style)


in_place = Mutant(
    "ENC-in-place",
    story="x += attention(norm(x)): the caller's tensor is changed",
    breaks={"CALL-IMMUT-1"},
    hint="write x = x + attention(norm(x))",
    replace={encoder.pre_norm_layer: pre_norm_in_place},
    variants=[{encoder.pre_norm_layer: pre_norm_all_in_place, encoder.post_norm_layer: post_norm_in_place}],
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
