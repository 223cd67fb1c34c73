"""Ways to get feed-forward networks wrong: the gate."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward

gate_swapped = Mutant(
    "FF-gate-swapped",
    story="the wrong one of the two first layers is activated",
    breaks={"FF-GATE-1"},
    hint='act(gate) · up; or declare {"glu-activated": "up"}',
    replace={
        feed_forward.let_through: lambda gate, up, activation: gate * feed_forward.activate(up, activation),
    },
    source="mlx-lm#767",
)

both_activated = Mutant(
    "FF-both-activated",
    story="both of the two first layers are activated",
    breaks={"FF-GATE-1"},
    hint="one of the two is linear",
    replace={
        feed_forward.let_through: lambda gate, up, activation: (
            feed_forward.activate(gate, activation) * feed_forward.activate(up, activation)
        ),
    },
)

product_activated = Mutant(
    "FF-product-activated",
    story="the product of the two first layers is activated",
    breaks={"FF-GATE-1"},
    hint="activate the gate, then multiply",
    replace={feed_forward.let_through: lambda gate, up, activation: feed_forward.activate(gate * up, activation)},
)

gate_added = Mutant(
    "FF-gate-added",
    story="the activated gate is added instead of multiplied",
    breaks={"FF-GATE-1"},
    hint="multiply, feature by feature",
    replace={feed_forward.let_through: lambda gate, up, activation: feed_forward.activate(gate, activation) + up},
)


def no_gate(x, weights, activation):
    return feed_forward.activate(feed_forward.widen(x, weights), activation)


gate_ignored = Mutant(
    "FF-gate-ignored",
    story="the gate is not used, or what it is to be multiplied with",
    breaks={"FF-GATE-1"},
    hint="gated networks have three weights",
    replace={feed_forward.hidden: no_gate},
)

sigmoid_gate = Mutant(
    "FF-sigmoid-gate",
    story="the gate is a sigmoid, whatever is asked for: GLU, not SwiGLU",
    breaks={"FF-GATE-2"},
    hint="activate the gate by the activation that is asked for",
    replace={feed_forward.let_through: lambda gate, up, activation: torch.sigmoid(gate) * up},
)

gate_not_activated = Mutant(
    "FF-gate-not-activated",
    story="the gate is not activated: the hidden features are a product of two linear ones",
    breaks={"FF-GATE-2"},
    hint="act(gate) · up",
    replace={feed_forward.let_through: lambda gate, up, activation: gate * up},
)

gate_bias_missing = Mutant(
    "FF-gate-bias-missing",
    story="the gate has no bias",
    breaks={"FF-GATE-3"},
    hint="with biases the gate has one, too",
    replace={feed_forward.open_gate: lambda x, weights: x @ weights["gate.weight"].T},
)


def other_bias(x, weights):
    return x @ weights["gate.weight"].T + weights.get("up.bias", 0.0)


gate_bias_shared = Mutant(
    "FF-gate-bias-shared",
    story="the gate adds the bias of the other layer",
    breaks={"FF-GATE-1"},
    hint="gate.bias is its own",
    replace={feed_forward.open_gate: other_bias},
)
