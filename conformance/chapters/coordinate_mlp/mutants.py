"""Ways to get a coordinate MLP wrong: the reference with one function replaced."""

import math

import torch
from torch.nn import functional

from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous
from attnconf.reference import coordinate_mlp, fourier


def with_features(change):
    """Return the network on other features: ``change`` of (x, frequencies)."""
    return lambda x, frequencies, weights: coordinate_mlp.layers(change(x, frequencies), weights)


def with_result(change):
    """Return the network, its output changed."""
    return lambda x, weights: change(coordinate_mlp.layers(x, weights))


# -- what the first layer reads


def raw_coordinates(x, frequencies):
    return torch.cat([x, x.new_zeros(len(x), (2 * len(frequencies) - 1) * x.shape[1])], dim=1)


raw = Mutant(
    "CMLP-raw",
    story="the first layer reads the coordinates themselves, not their features",
    breaks={"CMLP-FEATURES-1"},
    hint="encode first: the first layer is 2·d·K wide, not d",
    replace={coordinate_mlp.coordinate_mlp: with_features(raw_coordinates)},
    source="system 1c",
)

factor_pi = Mutant(
    "CMLP-factor-pi",
    story="the angles carry a factor π that is not declared",
    breaks={"CMLP-FEATURES-1"},
    hint='the angle is frequency times coordinate, or declare {"fourier-factor": "pi"}',
    replace={coordinate_mlp.coordinate_mlp: with_features(lambda x, f: fourier.fourier(math.pi * x, f))},
)

one_frequency_short = Mutant(
    "CMLP-highest-missing",
    story="the highest frequency is left out, and its features are 0",
    breaks={"CMLP-FEATURES-1"},
    hint="range(K), not range(K - 1)",
    replace={
        coordinate_mlp.coordinate_mlp: with_features(
            lambda x, f: fourier.fourier(x, f) * x.new_tensor([float(g < max(f)) for g in f]).repeat(2 * x.shape[1])
        )
    },
)

order_swapped = Mutant(
    "CMLP-sines-and-cosines-swapped",
    story="the cosines stand where the sines belong",
    breaks={"CMLP-FEATURES-1"},
    hint="the first layer's columns are sines, then cosines, of each coordinate",
    replace={fourier.join: lambda sines, cosines: fourier.join(cosines, sines)},
)

clamped = Mutant(
    "CMLP-clamped",
    story="coordinates beyond ±1 are clamped",
    breaks={"CMLP-FEATURES-1"},
    hint="encode the coordinates as they are",
    replace={coordinate_mlp.coordinate_mlp: with_features(lambda x, f: fourier.fourier(x.clamp(-1, 1), f))},
)

points_normalised = Mutant(
    "CMLP-points-normalised",
    story="coordinates are divided by the largest that comes with them",
    breaks={"CMLP-POINTS-1"},
    hint="encode the coordinates as they are: a pixel has the same colour in any company",
    replace={
        coordinate_mlp.coordinate_mlp: lambda x, frequencies, weights: coordinate_mlp.coordinate_mlp(
            x / x.abs().max().clamp_min(1e-9) if len(x) else x, frequencies, weights
        )
    },
)

# -- between the layers

no_activation = Mutant(
    "CMLP-no-relu",
    story="there is no ReLU between the layers, which are one linear layer then",
    breaks={"CMLP-RELU-1"},
    hint="ReLU after every layer but the last",
    replace={coordinate_mlp.activate: lambda x: x},
)

leaky = Mutant(
    "CMLP-leaky",
    story="negative units pass a hundredth of themselves on",
    breaks={"CMLP-RELU-1"},
    hint="relu, not leaky_relu",
    replace={coordinate_mlp.activate: lambda x: torch.maximum(x, 0.01 * x)},
)

tanh = Mutant(
    "CMLP-tanh",
    story="tanh stands where ReLU belongs",
    breaks={"CMLP-RELU-1"},
    hint="relu between the layers",
    replace={coordinate_mlp.activate: lambda x: x.tanh()},
)

sine = Mutant(
    "CMLP-sine",
    story="sines stand where ReLU belongs",
    breaks={"CMLP-RELU-1"},
    hint="sines are for the coordinates; relu between the layers",
    replace={coordinate_mlp.activate: lambda x: x.sin()},
    source="SIREN layers taken for those behind Fourier features",
)

absolute = Mutant(
    "CMLP-absolute",
    story="negative units pass their size on",
    breaks={"CMLP-RELU-1"},
    hint="relu is max(x, 0), not |x|",
    replace={coordinate_mlp.activate: lambda x: x.abs()},
)

gelu = Mutant(
    "CMLP-gelu",
    story="GELU stands where ReLU belongs",
    breaks={"CMLP-RELU-2"},
    hint="relu between the layers",
    replace={coordinate_mlp.activate: lambda x: functional.gelu(x)},
)

sigmoid = Mutant(
    "CMLP-sigmoid",
    story="the sigmoid stands where ReLU belongs",
    breaks={"CMLP-RELU-2"},
    hint="relu between the layers",
    replace={coordinate_mlp.activate: lambda x: x.sigmoid()},
)

relu6 = Mutant(
    "CMLP-relu6",
    story="ReLU is cut at 6",
    breaks={"CMLP-RELU-2"},
    hint="relu, not relu6",
    replace={coordinate_mlp.activate: lambda x: x.clamp(0, 6)},
)

relu_after_last = Mutant(
    "CMLP-relu-after-last",
    story="ReLU follows the last layer too: no colour can be negative, and a dead one learns nothing",
    breaks={"CMLP-LAST-1"},
    hint="nothing after the last layer",
    replace={coordinate_mlp.layers: with_result(torch.relu)},
    source="a loop that appends ReLU to every layer",
)

sigmoid_after_last = Mutant(
    "CMLP-sigmoid-after-last",
    story="a sigmoid follows the last layer",
    breaks={"CMLP-LAST-1"},
    hint="nothing after the last layer; who wants colours within 0 … 1 adds it outside",
    replace={coordinate_mlp.layers: with_result(torch.sigmoid)},
)

tanh_after_last = Mutant(
    "CMLP-tanh-after-last",
    story="tanh follows the last layer",
    breaks={"CMLP-LAST-1"},
    hint="nothing after the last layer",
    replace={coordinate_mlp.layers: with_result(torch.tanh)},
)

no_biases = Mutant(
    "CMLP-no-biases",
    story="the biases are left out",
    breaks={"CMLP-BIAS-1"},
    hint="add the bias of every layer",
    replace={coordinate_mlp.linear: lambda x, weight, bias: coordinate_mlp.linear(x, weight, torch.zeros_like(bias))},
)


def layers_without_first_bias(x, weights):
    return coordinate_mlp.layers(x, {**weights, "0.bias": 0 * weights["0.bias"]})


no_first_bias = Mutant(
    "CMLP-no-first-bias",
    story="the first layer lacks its bias",
    breaks={"CMLP-BIAS-1"},
    hint="add the bias of every layer",
    replace={coordinate_mlp.layers: layers_without_first_bias},
)


def layers_in_order_of_names(x, weights):
    names = sorted(name.removesuffix(".weight") for name in weights if name.endswith(".weight"))
    ordered = {f"{i}.{part}": weights[f"{n}.{part}"] for i, n in enumerate(names) for part in ("weight", "bias")}
    return coordinate_mlp.layers(x, ordered)


order_of_names = Mutant(
    "CMLP-layers-sorted-by-name",
    story="the layers run in the order of their names, 10 before 2",
    breaks={"CMLP-ORACLE-1"},
    hint="sort by number: key=int",
    replace={coordinate_mlp.layers: layers_in_order_of_names},
    raises={"CMLP-ORACLE-1"},
    source="sorted(state_dict)",
)


def layers_shared(x, weights):
    def of(name):
        i, part = name.split(".")
        return f"1.{part}" if weights[f"{i}.weight"].shape == weights["1.weight"].shape else name

    return coordinate_mlp.layers(x, {name: weights[of(name)] for name in weights})


shared = Mutant(
    "CMLP-layers-shared",
    story="hidden layers of one size are one and the same layer",
    breaks={"CMLP-ORACLE-1"},
    hint="[nn.Linear(n, n) for _ in range(k)], not [nn.Linear(n, n)] * k",
    replace={coordinate_mlp.layers: layers_shared},
)

# -- gradients and side effects


def layers_first_detached(x, weights):
    return coordinate_mlp.layers(x, {**weights, "0.weight": weights["0.weight"].detach()})


first_detached = Mutant(
    "CMLP-first-detached",
    story="no gradient reaches the first layer's weight",
    breaks={"CMLP-GRAD-1"},
    hint="the encoding has no parameters, the first layer has: keep torch.no_grad to the encoding",
    replace={coordinate_mlp.layers: layers_first_detached},
)


# -- precision


def in_bfloat16(x, weight, bias):
    narrow = torch.bfloat16 if x.dtype == torch.float32 else x.dtype
    return coordinate_mlp.linear(x.to(narrow), weight.to(narrow), bias.to(narrow)).to(x.dtype)


narrowed = Mutant(
    "CMLP-bfloat16",
    story="float32 is computed in bfloat16",
    breaks={"CALL-FLOAT-1"},
    hint="autocast off where float32 is wanted",
    replace={coordinate_mlp.linear: in_bfloat16},
)


def in_steps(x, weight, bias):
    out = coordinate_mlp.linear(x, weight, bias)
    return out if out.dtype in (torch.float32, torch.float64) else (out * 4).round() / 4


quantised = Mutant(
    "CMLP-quantised-in-half",
    story="in half precision what a layer gives is kept in steps of a quarter",
    breaks={"CMLP-HALF-1"},
    hint="in the dtype of the input; quantisation is another model",
    replace={coordinate_mlp.linear: in_steps},
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "CMLP-POINTS-1", "an output depends on the input in its own place, or on nothing"),
    Vacuous(NUMBERS, "CMLP-RELU-1 CMLP-RELU-2", "no weight has an effect, neither has what ReLU cuts off"),
    Vacuous(("zeros",), "CMLP-LAST-1", "0 is linear in the last layer"),
)
