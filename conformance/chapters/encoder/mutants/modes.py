"""Ways to get the encoder wrong: modes and training."""

from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.encoder.mutants.shared import (
    attend,
    encode_once,
    gather,
    normed,
    position_wise,
    post_norm,
    under,
)
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, encoder, feed_forward
from attnconf.reference import multi_head_attention as mha


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
    forgotten = style.norm_first and style.placement is None and not torch.is_grad_enabled()
    return (post_norm if forgotten else encode_once)(x, weights, style, mask)


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
