"""Different is not wrong: feed-forward networks as they are written elsewhere, in every declared variant, conform."""

import pytest
import torch
from test_sinusoidal_variants import failed
from torch import nn
from torch.nn import functional as F

from attnconf.adapters.contract import CONVENTIONS
from attnconf.adapters.kit.bind import bind

torch.set_num_threads(1)

ACTIVATIONS = {
    "relu": F.relu, "gelu": F.gelu, "gelu-tanh": nn.GELU("tanh"), "quick-gelu": lambda x: F.silu(1.702 * x) / 1.702,
    "silu": F.silu,
}  # fmt: skip
LACKING_ACTIVATIONS = {
    "relu": "FF_RELU_1", "gelu": "FF_GELU_1", "gelu-tanh": "FF_GELUTANH_1", "quick-gelu": "FF_QUICKGELU_1",
    "silu": "FF_SILU_1", "sigmoid": "FF_SIGMOID_1", "none": "FF_NONE_1",
}  # fmt: skip
FAMILIAR = tuple(ACTIVATIONS)
PLAIN = [(activation, bias) for activation in FAMILIAR for bias in CONVENTIONS["layer-bias"]]
GATED = [(a, activated, b) for a, b in PLAIN for activated in CONVENTIONS["glu-activated"]]


class Convolutions(nn.Module):
    """Two convolutions of width 1 over the tokens, channels first."""

    def __init__(self, config, activation):
        super().__init__()
        self.up = nn.Conv1d(config.embed_dim, config.hidden_dim, 1, bias=config.bias)
        self.down = nn.Conv1d(config.hidden_dim, config.embed_dim, 1, bias=config.bias)
        self.dropout, self.activation = nn.Dropout(config.dropout), activation

    def forward(self, x):
        return self.down(self.dropout(self.activation(self.up(x.transpose(1, 2))))).transpose(1, 2)


def convolutions(activation, bias):
    def feed_forward(config, weights):
        if config.gated or config.activation != activation or config.bias != bias:
            raise NotImplementedError(f"anything but {activation}, bias {bias}, without a gate")
        state = {name: w[..., None] if name.endswith("weight") else w for name, w in weights.items()}
        return bind(Convolutions(config, ACTIVATIONS[activation]).train(config.training), state)

    return feed_forward


@pytest.mark.parametrize(("activation", "bias"), PLAIN)
def test_a_network_with_one_activation_conforms(activation, bias):
    declares = {"activation": activation, "layer-bias": bias}
    lacking = {name for a, name in LACKING_ACTIVATIONS.items() if a != activation}
    lacking |= {"FF_GATE_1", "FF_GATE_2", "FF_ORACLE_2"} | ({"FF_GATE_3", "FF_NOBIAS_1"} if bias == "yes" else set())
    without = {} if bias == "yes" else dict.fromkeys(("FF_BIAS_1", "FF_BIAS_2", "FF_GATE_3"), "not-applicable")
    network = convolutions(activation, bias == "yes")
    assert not failed("feed_forward", network, declares, **dict.fromkeys(lacking, "unsupported"), **without)


def fused(activation, activated, bias):
    """Return a gated network with one product for both of its first layers, cut in two."""

    def feed_forward(config, weights):
        if not config.gated or config.activation != activation or config.bias != bias or config.training:
            raise NotImplementedError(f"anything but {activation} with a gate, bias {bias}, in evaluation")

        def forward(x):
            order = ("gate", "up") if activated == "gate" else ("up", "gate")  # activated first
            both = torch.cat([weights[f"{name}.weight"] for name in order])
            biases = torch.cat([weights[f"{name}.bias"] for name in order]) if bias else None
            active, linear = F.linear(x, both, biases).chunk(2, dim=-1)
            return F.linear(ACTIVATIONS[activation](active) * linear, weights["down.weight"], weights.get("down.bias"))

        return forward

    return feed_forward


@pytest.mark.parametrize(("activation", "activated", "bias"), GATED)
def test_a_network_that_is_always_gated_conforms(activation, activated, bias):
    declares = {"activation": activation, "gated": "yes", "glu-activated": activated, "layer-bias": bias}
    lacking = {name for a, name in LACKING_ACTIVATIONS.items() if a != activation} | {"FF_DROP_2", "FF_DROP_3"}
    lacking |= {"FF_NOBIAS_1"} if bias == "yes" else set()
    without = {"FF_ORACLE_1", *(() if bias == "yes" else ("FF_BIAS_1", "FF_BIAS_2", "FF_GATE_3"))}
    network = fused(activation, activated, bias == "yes")
    other = {**dict.fromkeys(lacking, "unsupported"), **dict.fromkeys(without, "not-applicable")}
    assert not failed("feed_forward", network, declares, **other)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_undeclared_order_of_the_gate_has_one_root(activation):
    declares = {"activation": activation, "gated": "yes", "layer-bias": "no"}
    got = failed("feed_forward", fused(activation, "up", False), declares)
    assert {name for name, outcome in got.items() if outcome.startswith("fail")} == {"FF-GATE-1", "FF-ORACLE-2"}


def test_dropout_may_be_left_to_the_layer_or_stand_behind():
    """As a deviation: where it acts is a SHOULD."""

    def feed_forward(config, weights):
        if config.gated:
            raise NotImplementedError("a gate")
        if config.activation not in ACTIVATIONS:
            raise NotImplementedError(config.activation)

        def forward(x):
            hidden = ACTIVATIONS[config.activation](F.linear(x, weights["up.weight"], weights.get("up.bias")))
            out = F.linear(hidden, weights["down.weight"], weights.get("down.bias"))
            return F.dropout(out, config.dropout, config.training)

        return forward

    lacking = dict.fromkeys(("FF_SIGMOID_1", "FF_NONE_1", "FF_GATE_1", "FF_GATE_2", "FF_GATE_3", "FF_ORACLE_2"))
    got = failed("feed_forward", feed_forward, {}, **dict.fromkeys(lacking, "unsupported"))
    assert set(got) == {"FF-DROP-3"}
