"""Ways to get the encoder wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.encoder.mutants.shared import post_norm
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
