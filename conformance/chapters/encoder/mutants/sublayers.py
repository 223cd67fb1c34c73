"""Ways to get the encoder wrong: the two sublayers."""

from dataclasses import replace

import torch

from attnconf.conformance.chapters.encoder.mutants.shared import attend, normed, position_wise
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, encoder, feed_forward


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
    story="attention and the feed-forward network both get the layer's input, and both are added, as in GPT-J; "
    "here a deviation from what is declared",
    breaks={"ENC-ORDER-1"},
    hint='h = x + attention(norm1(x)), then h + ff(norm2(h)); or declare norm-order = "parallel-two"',
    replace={encoder.pre_norm_layer: pre_norm_side_by_side},
    source="the layers of GPT-J",
    published="x + attention(norm1(x)) + ff(norm2(x)), as in GPT-NeoX",
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
    story="GELU is x·σ(1.702 x), as in CLIP; here a deviation from what is declared",
    breaks={"ENC-ACT-1"},
    hint="x·Φ(x), from which this one is off by up to 0.02; or declare activation: quick-gelu",
    replace={feed_forward.gelu: lambda x: x * torch.sigmoid(1.702 * x)},
    source="the QuickGELU of CLIP",
)
