"""Ways to get feed-forward networks wrong: the two layers."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

activated_twice = Mutant(
    "FF-activated-twice",
    story="an activation follows the second layer, too: no output can be negative",
    breaks={"FF-DOWN-1"},
    hint="nothing after the second layer",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.relu(feed_forward.linear(features, weights, "down"))
    },
    source="a loop that appends ReLU to every layer",
)

squashed = Mutant(
    "FF-squashed",
    story="tanh follows the second layer",
    breaks={"FF-DOWN-1"},
    hint="nothing after the second layer",
    replace={feed_forward.narrow: lambda features, weights: torch.tanh(feed_forward.linear(features, weights, "down"))},
)


def with_residual(config, weights):
    def forward(x):
        return x + feed_forward.feed_forward(x, weights, config.activation, adapter.active_dropout(config))

    return forward


residual_inside = Mutant(
    "FF-residual-inside",
    story="the network adds x to its output, and so does the layer around it",
    breaks={"FF-DOWN-1"},
    hint="leave the residual to the layer",
    replace={adapter.feed_forward: with_residual},
)


def normalised_out(features, weights):
    out = feed_forward.linear(features, weights, "down")
    return torch.nn.functional.layer_norm(out, out.shape[-1:])


norm_inside = Mutant(
    "FF-norm-behind",
    story="a norm follows the second layer",
    breaks={"FF-DOWN-1"},
    hint="leave the norm to the layer",
    replace={feed_forward.narrow: normalised_out},
)

tied_layers = Mutant(
    "FF-tied-layers",
    story="the second layer uses the first one's weight, transposed",
    breaks={"FF-DOWN-1"},
    hint="each layer has its own weight",
    replace={
        feed_forward.narrow: lambda features, weights: features @ weights["up.weight"] + weights.get("down.bias", 0.0)
    },
)


def normalised_in(x, weights):
    return feed_forward.linear(torch.nn.functional.layer_norm(x, x.shape[-1:]), weights, "up")


norm_in_front = Mutant(
    "FF-norm-in-front",
    story="x is normalised first, and once more by the layer around",
    breaks={"FF-UP-1"},
    hint="leave the norm to the layer",
    replace={feed_forward.widen: normalised_in},
)

first_feature_unread = Mutant(
    "FF-clipped-input",
    story="x is clipped to ±1 before the first layer",
    breaks={"FF-UP-1"},
    hint="x as it is",
    replace={feed_forward.widen: lambda x, weights: feed_forward.linear(x.clamp(-1, 1), weights, "up")},
)

first_bias_missing = Mutant(
    "FF-first-bias-missing",
    story="the first layer has no bias",
    breaks={"FF-BIAS-1"},
    hint="add up.bias before the activation",
    replace={feed_forward.widen: lambda x, weights: x @ weights["up.weight"].T},
)


def bias_behind(x, weights, activation):
    if "gate.weight" in weights:
        return feed_forward.let_through(feed_forward.open_gate(x, weights), feed_forward.widen(x, weights), activation)
    return feed_forward.activate(x @ weights["up.weight"].T, activation) + weights.get("up.bias", 0.0)


bias_after_activation = Mutant(
    "FF-bias-after-activation",
    story="the first bias is added behind the activation",
    breaks={"FF-BIAS-1"},
    hint="act(W x + b), not act(W x) + b",
    replace={feed_forward.hidden: bias_behind},
)

second_bias_missing = Mutant(
    "FF-second-bias-missing",
    story="the second layer has no bias",
    breaks={"FF-BIAS-2"},
    hint="add down.bias",
    replace={feed_forward.narrow: lambda features, weights: features @ weights["down.weight"].T},
)

second_bias_twice = Mutant(
    "FF-second-bias-twice",
    story="the second bias is added twice, as by every one of two parallel ranks",
    breaks={"FF-BIAS-2"},
    hint="where the second layer is split over ranks, one of them adds the bias",
    replace={
        feed_forward.narrow: lambda features, weights: (
            feed_forward.linear(features, weights, "down") + weights.get("down.bias", 0.0)
        ),
    },
)

bias_of_one = Mutant(
    "FF-default-bias",
    story="without biases the first layer adds a constant",
    breaks={"FF-NOBIAS-1"},
    hint="bias=False in both layers",
    replace={
        feed_forward.widen: lambda x, weights: (
            feed_forward.linear(x, weights, "up") + (0.0 if "up.bias" in weights else 0.5)
        ),
    },
)

bias_demanded = Mutant(
    "FF-bias-demanded",
    story="without biases it raises",
    breaks={"FF-NOBIAS-1"},
    hint="pass bias=config.bias to both layers, or raise NotImplementedError in words",
    replace={feed_forward.widen: lambda x, weights: x @ weights["up.weight"].T + weights["up.bias"]},
    raises={"FF-NOBIAS-1"},
)


def as_wide_as_the_model(x, weights):
    few = torch.arange(len(weights["up.weight"])) < x.shape[-1]
    return feed_forward.linear(x, weights, "up") * few


hidden_width_ignored = Mutant(
    "FF-hidden-width-ignored",
    story="only as many hidden features are used as the model is wide",
    breaks={"FF-HIDDEN-1"},
    hint="the first layer goes to hidden_dim",
    replace={feed_forward.widen: as_wide_as_the_model},
)


def four_times(features, weights):
    used = torch.arange(features.shape[-1]) < 4 * len(weights["down.weight"])
    return feed_forward.linear(features * used, weights, "down")


always_four_times = Mutant(
    "FF-always-four-times",
    story="what goes beyond four times the model's width is not used",
    breaks={"FF-HIDDEN-1"},
    hint="4 is a habit: use hidden_dim",
    replace={feed_forward.narrow: four_times},
)

hidden_normalised = Mutant(
    "FF-hidden-normalised",
    story="hidden features are divided by their sum",
    breaks={"FF-HIDDEN-1"},
    hint="no softmax and no norm between the layers",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features / features.sum(dim=-1, keepdim=True).clamp_min(1e-6), weights, "down"
        ),
    },
)


def last_left_out(features, weights):
    used = torch.arange(features.shape[-1]) < max(1, features.shape[-1] - 1)
    return feed_forward.linear(features * used, weights, "down")


last_hidden_missing = Mutant(
    "FF-last-hidden-missing",
    story="the last hidden feature is left out",
    breaks={"FF-HIDDEN-1"},
    hint="range(hidden_dim), not range(hidden_dim - 1)",
    replace={feed_forward.narrow: last_left_out},
)
