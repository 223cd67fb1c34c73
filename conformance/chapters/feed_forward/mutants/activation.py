"""Ways to get feed-forward networks wrong: the activation."""

import math

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

no_activation = Mutant(
    "FF-no-activation",
    story="there is no activation: without a gate the two layers are one linear layer",
    breaks={"FF-RELU-1", "FF-GELU-1", "FF-GELUTANH-1", "FF-QUICKGELU-1", "FF-SILU-1", "FF-SIGMOID-1", "FF-GATE-2"},
    hint="down(act(up(x)))",
    replace={feed_forward.activate: lambda x, activation: x},
)

always_relu = Mutant(
    "FF-always-relu",
    story="the activation is ReLU, whatever is asked for",
    breaks={"FF-GELU-1", "FF-GELUTANH-1", "FF-QUICKGELU-1", "FF-SILU-1", "FF-SIGMOID-1", "FF-NONE-1", "FF-GATE-2"},
    hint="pass config.activation on, or raise NotImplementedError for what is not there",
    replace={feed_forward.activate: lambda x, activation: feed_forward.relu(x)},
)

leaky = Mutant(
    "FF-leaky-relu",
    story="negative hidden features pass a hundredth of themselves on",
    breaks={"FF-RELU-1"},
    hint="relu, not leaky_relu",
    replace={feed_forward.relu: lambda x: torch.nn.functional.leaky_relu(x)},
)

relu_is_gelu = Mutant(
    "FF-gelu-for-relu",
    story="GELU stands where ReLU is asked for",
    breaks={"FF-RELU-1"},
    hint="relu: max(z, 0)",
    replace={feed_forward.relu: lambda x: torch.nn.functional.gelu(x)},
)

relu_cut = Mutant(
    "FF-relu6",
    story="ReLU is cut at 6",
    breaks={"FF-RELU-1"},
    hint="relu, not relu6",
    replace={feed_forward.relu: lambda x: x.clamp(0, 6)},
)

squared_relu = Mutant(
    "FF-squared-relu",
    story="ReLU is squared, as in Primer; here a deviation from what is declared",
    breaks={"FF-RELU-1"},
    hint="max(z, 0): the square is Primer's activation, another one",
    replace={feed_forward.relu: lambda x: x.clamp(min=0) ** 2},
    source="So et al. 2021, Primer",
)

tanh_for_relu = Mutant(
    "FF-tanh-for-relu",
    story="tanh stands where ReLU is asked for",
    breaks={"FF-RELU-1"},
    hint="relu: max(z, 0)",
    replace={feed_forward.relu: lambda x: x.tanh()},
)

elu_for_relu = Mutant(
    "FF-elu-for-relu",
    story="ELU, or SELU, stands where ReLU is asked for",
    breaks={"FF-RELU-1"},
    hint="relu: max(z, 0)",
    replace={feed_forward.relu: lambda x: torch.nn.functional.elu(x)},
    variants=[{feed_forward.relu: lambda x: torch.selu(x)}],
)

softplus_for_relu = Mutant(
    "FF-softplus-for-relu",
    story="the softplus, log(1 + e^z), stands where ReLU is asked for",
    breaks={"FF-RELU-1", "FF-NOBIAS-1"},
    hint="relu: max(z, 0)",
    replace={feed_forward.relu: lambda x: torch.nn.functional.softplus(x)},
)

mish_for_silu = Mutant(
    "FF-mish-for-silu",
    story="Mish, z·tanh(log(1 + e^z)), stands where SiLU is asked for",
    breaks={"FF-SILU-1", "FF-GATE-2"},
    hint="silu: z·sigmoid(z)",
    replace={feed_forward.silu: lambda x: torch.nn.functional.mish(x)},
)

hard_swish = Mutant(
    "FF-hard-swish",
    story="SiLU is made of a straight line, a parabola and another straight line",
    breaks={"FF-SILU-1", "FF-GATE-2"},
    hint="nn.SiLU, not nn.Hardswish",
    replace={feed_forward.silu: lambda x: torch.nn.functional.hardswish(x)},
)

tanh_for_exact = Mutant(
    "FF-tanh-for-exact",
    story="GELU is the approximation by tanh, where the exact one is asked for",
    breaks={"FF-GELU-1"},
    hint='nn.GELU(), without approximate="tanh"; jax.nn.gelu approximates unless told otherwise',
    replace={feed_forward.gelu: lambda x: torch.nn.functional.gelu(x, approximate="tanh")},
    source="the default of jax.nn.gelu",
)

quick_gelu = Mutant(
    "FF-quick-gelu",
    story="GELU is z·σ(1.702·z), as in CLIP; here a deviation from what is declared",
    breaks={"FF-GELU-1"},
    hint="the exact one has erf; or declare activation: quick-gelu",
    replace={feed_forward.gelu: lambda x: x * torch.sigmoid(1.702 * x)},
)

gelu_without_root = Mutant(
    "FF-gelu-without-root",
    story="GELU takes erf(z), not erf(z/√2)",
    breaks={"FF-GELU-1"},
    hint="z·(1 + erf(z/√2))/2",
    replace={feed_forward.gelu: lambda x: x * (1 + torch.erf(x)) / 2},
)


def by_tanh(outer, cubic):
    return {feed_forward.gelu_tanh: lambda x: x * (1 + torch.tanh(outer * (x + cubic * x**3))) / 2}


gelu_constants = Mutant(
    "FF-gelu-constants",
    story="the approximation of GELU by tanh has another constant: 2/π without the root, say, or 0.44715",
    breaks={"FF-GELUTANH-1"},
    hint="z·(1 + tanh(√(2/π)·(z + 0.044715·z³)))/2",
    replace=by_tanh(2 / math.pi, 0.044715),
    variants=[
        by_tanh(math.sqrt(2 / math.pi), 0.44715),
        by_tanh(math.sqrt(2 * math.pi), 0.044715),
        by_tanh(math.sqrt(2 / math.pi), 0.0),
        by_tanh(1.0, 0.044715),
    ],
)

exact_for_tanh = Mutant(
    "FF-exact-for-tanh",
    story="GELU is the exact one, where the approximation by tanh is asked for",
    breaks={"FF-GELUTANH-1"},
    hint='nn.GELU(approximate="tanh")',
    replace={feed_forward.gelu_tanh: lambda x: torch.nn.functional.gelu(x)},
    source="vllm#3411, CTranslate2#1658",
)


def by_sigmoid(factor):
    return {feed_forward.quick_gelu: lambda x: x * torch.sigmoid(factor * x)}


quick_gelu_factor = Mutant(
    "FF-quick-gelu-factor",
    story="the sigmoid of quick-GELU has another factor: 1.7, say, or none, which is SiLU",
    breaks={"FF-QUICKGELU-1"},
    hint="z·sigmoid(1.702·z)",
    replace=by_sigmoid(1.7),
    variants=[by_sigmoid(1.0), by_sigmoid(math.sqrt(8 / math.pi)), by_sigmoid(1.72)],
)

quick_gelu_outside = Mutant(
    "FF-quick-gelu-outside",
    story="the factor of quick-GELU stands outside the sigmoid: 1.702·z·σ(z)",
    breaks={"FF-QUICKGELU-1"},
    hint="z·sigmoid(1.702·z)",
    replace={feed_forward.quick_gelu: lambda x: 1.702 * x * torch.sigmoid(x)},
)

exact_for_quick = Mutant(
    "FF-exact-for-quick",
    story="GELU is the exact one, where z·σ(1.702·z) is asked for, as weights of CLIP want it",
    breaks={"FF-QUICKGELU-1"},
    hint="z·sigmoid(1.702·z), or declare activation: gelu",
    replace={feed_forward.quick_gelu: lambda x: torch.nn.functional.gelu(x)},
)

gelu_for_silu = Mutant(
    "FF-gelu-for-silu",
    story="GELU stands where SiLU is asked for",
    breaks={"FF-SILU-1", "FF-GATE-2"},
    hint="silu: z·sigmoid(z)",
    replace={feed_forward.silu: lambda x: torch.nn.functional.gelu(x)},
)

silu_overflows = Mutant(
    "FF-silu-overflows",
    story="SiLU is z·eᶻ/(1 + eᶻ), which is not a number for large z",
    breaks={"FF-SILU-1", "FF-GATE-2"},
    hint="z·torch.sigmoid(z)",
    replace={feed_forward.silu: lambda x: x * torch.exp(x) / (1 + torch.exp(x))},
)

tanh_for_sigmoid = Mutant(
    "FF-tanh-for-sigmoid",
    story="tanh stands where the sigmoid is asked for",
    breaks={"FF-SIGMOID-1"},
    hint="1/(1 + e^-z), between 0 and 1",
    replace={feed_forward.sigmoid: lambda x: torch.tanh(x)},
)

hard_sigmoid = Mutant(
    "FF-hard-sigmoid",
    story="the sigmoid is made of three straight lines",
    breaks={"FF-SIGMOID-1"},
    hint="torch.sigmoid, not hardsigmoid",
    replace={feed_forward.sigmoid: lambda x: torch.nn.functional.hardsigmoid(x)},
)

sigmoid_overflows = Mutant(
    "FF-sigmoid-overflows",
    story="the sigmoid is eᶻ/(1 + eᶻ), which is not a number for large z",
    breaks={"FF-SIGMOID-1"},
    hint="torch.sigmoid, or 1/(1 + e^-z)",
    replace={feed_forward.sigmoid: lambda x: torch.exp(x) / (1 + torch.exp(x))},
)
