"""Ways to get the encoder wrong: configuration."""

from dataclasses import replace

from attnconf.conformance.chapters.encoder.mutants.shared import normed, position_wise
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder
from attnconf.reference.rms_norm import rms_norm

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
