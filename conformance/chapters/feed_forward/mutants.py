"""Ways to get feed_forward wrong: the reference with one function replaced."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous
from attnconf.reference import feed_forward

# -- what comes out

not_narrowed = Mutant(
    "FF-not-narrowed",
    story="the hidden features come out: the second layer is missing",
    breaks={"CALL-SHAPE-1"},
    hint="two layers: back to embed_dim with down.weight",
    replace={feed_forward.narrow: lambda features, weights: features},
)


def running_maximum(config, weights):
    largest = 0.0

    def forward(x):
        nonlocal largest
        out = feed_forward.feed_forward(x, weights, config.activation, adapter.active_dropout(config))
        last, largest = largest, float(x.detach().abs().max()) if len(x) else 0.0
        return out.clamp(-4 * last, 4 * last) / 2 if last else out

    return forward


quantised_by_the_last_call = Mutant(
    "FF-scaled-by-the-last-call",
    story="the output is scaled by what was seen in the last call",
    breaks={"CALL-REPEAT-1"},
    hint="a scale that is calibrated belongs to training; in evaluation it is fixed",
    replace={adapter.feed_forward: running_maximum},
)


# -- position-wise


def convolved(x, weights):
    before = torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]
    return feed_forward.linear(x + before / 2, weights, "up")


wide_kernel = Mutant(
    "FF-wide-kernel",
    story="a convolution of width 2 over the tokens stands for the first layer",
    breaks={"FF-TOKEN-1"},
    hint="position-wise: kernel_size=1, or nn.Linear",
    replace={feed_forward.widen: convolved},
)

centred_over_tokens = Mutant(
    "FF-centred-over-tokens",
    story="the mean over the tokens is taken off the hidden features",
    breaks={"FF-TOKEN-1"},
    hint="no statistics over the sequence: each token by itself",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features - features.mean(dim=1, keepdim=True), weights, "down"
        ),
    },
)

softmax_over_tokens = Mutant(
    "FF-activated-over-tokens",
    story="hidden features are divided by their largest value in the sample",
    breaks={"FF-TOKEN-1"},
    hint="an activation is a function of one number",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features / (1 + features.detach().abs().amax(dim=(1, 2), keepdim=True)), weights, "down"
        ),
    },
)

next_token = Mutant(
    "FF-next-token",
    story="each token gets the output of the next one",
    breaks={"FF-TOKEN-1"},
    hint="shift targets, not activations",
    replace={feed_forward.widen: lambda x, weights: feed_forward.linear(x.roll(-1, dims=1), weights, "up")},
)

batch_centred = Mutant(
    "FF-batch-centred",
    story="the mean over the samples is taken off x, as a batch norm does",
    breaks={"FF-BATCH-1"},
    hint="no statistics over the batch",
    replace={
        feed_forward.widen: lambda x, weights: feed_forward.linear(x - x.mean(dim=0, keepdim=True) / 2, weights, "up")
    },
)

first_sample = Mutant(
    "FF-first-sample",
    story="half of the hidden features are those of the first sample",
    breaks={"FF-BATCH-1"},
    hint="keep the batch axis in every product",
    replace={
        feed_forward.widen: lambda x, weights: (
            (feed_forward.linear(x, weights, "up") + feed_forward.linear(x[:1], weights, "up")) / 2
        )
    },
)

later_is_less = Mutant(
    "FF-later-is-less",
    story="hidden features shrink along the sequence",
    breaks={"FF-PLACE-1"},
    hint="the same weights at every position",
    replace={
        feed_forward.widen: lambda x, weights: (
            feed_forward.linear(x, weights, "up") / (1 + torch.arange(x.shape[1], dtype=x.dtype)[:, None] / 2)
        ),
    },
)


def whole_groups(size, rest):
    """Return the network on groups of so many tokens; the tokens behind the last whole group get ``rest`` of x."""

    def replaced(x, weights, activation="relu", dropout=0.0):
        out = feed_forward.feed_forward(x, weights, activation, dropout)
        size_here = min(size, x.shape[-2])
        whole = x.shape[-2] // size_here * size_here
        return torch.cat([out[..., :whole, :], rest(x[..., whole:, :])], dim=-2)

    return {feed_forward.feed_forward: replaced}


last_group_forgotten = Mutant(
    "FF-last-group-forgotten",
    story="tokens are processed in groups of 4, and those behind the last whole group get zeros",
    breaks={"FF-PLACE-1", "FF-BIAS-2"},
    hint="round the number of groups up: range(0, L, size), or x.split(size, dim=1)",
    replace=whole_groups(4, lambda x: 0 * x),
    variants=[
        *(whole_groups(size, lambda x: 0 * x) for size in (2, 3, 5, 8, 10, 16, 32, 64)),
        *(whole_groups(size, lambda x: x) for size in (2, 3, 4, 5, 8, 10, 16, 32, 64)),
    ],
)


def first_token_raw(x, weights):
    first = torch.arange(x.shape[1])[:, None] == 0
    return torch.where(first, 2.0, 1.0).to(x.dtype) * feed_forward.linear(x, weights, "up")


first_token_special = Mutant(
    "FF-first-token-special",
    story="the first token counts twice, as if it stood for the whole text",
    breaks={"FF-PLACE-1"},
    hint="a class token is treated in the head, not in the feed-forward network",
    replace={feed_forward.widen: first_token_raw},
)

# -- the two layers

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

# -- the activation

no_activation = Mutant(
    "FF-no-activation",
    story="nothing stands between the two layers, which are one linear layer then",
    breaks={"FF-RELU-1", "FF-GELU-1", "FF-GELUTANH-1", "FF-SILU-1", "FF-SIGMOID-1", "FF-GATE-2"},
    hint="down(act(up(x)))",
    replace={feed_forward.activate: lambda x, activation: x},
)

always_relu = Mutant(
    "FF-always-relu",
    story="the activation is ReLU, whatever is asked for",
    breaks={"FF-GELU-1", "FF-GELUTANH-1", "FF-SILU-1", "FF-SIGMOID-1", "FF-NONE-1", "FF-GATE-2"},
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
    story="ReLU is squared",
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
    story="GELU is z·σ(1.702·z)",
    breaks={"FF-GELU-1"},
    hint="that is another approximation, CLIP's; the exact one has erf",
    replace={feed_forward.gelu: lambda x: x * torch.sigmoid(1.702 * x)},
)

exact_for_tanh = Mutant(
    "FF-exact-for-tanh",
    story="GELU is the exact one, where the approximation by tanh is asked for",
    breaks={"FF-GELUTANH-1"},
    hint='nn.GELU(approximate="tanh")',
    replace={feed_forward.gelu_tanh: lambda x: torch.nn.functional.gelu(x)},
    source="vllm#3411, CTranslate2#1658",
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

# -- the gate

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
    story="the gate is not used",
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

# -- dropout

dropout_in_evaluation = Mutant(
    "FF-dropout-in-evaluation",
    story="dropout goes on in evaluation",
    breaks={"FF-DROP-1"},
    hint="nn.Dropout and eval(), or F.dropout(h, p, training=self.training)",
    replace={adapter.active_dropout: lambda config: config.dropout},
    source="nanoGPT#240, pytorch#124464, torchvision#7103: functional dropout trains unless told otherwise",
)


def not_divided(features, probability):
    return features * (torch.rand_like(features) >= probability)


dropout_not_rescaled = Mutant(
    "FF-dropout-not-rescaled",
    story="what is kept in training is not divided by 1 - p",
    breaks={"FF-DROP-2"},
    hint="use nn.Dropout",
    replace={feed_forward.drop_hidden: not_divided},
)


def whole_features(features, probability):
    return features * torch.dropout(torch.ones_like(features[:, :1]), probability, train=probability > 0)


features_dropped_alike = Mutant(
    "FF-dropped-alike",
    story="in a sample the same hidden features are dropped at every token",
    breaks={"FF-DROP-2"},
    hint="each token's features by themselves: nn.Dropout, not Dropout1d over the tokens",
    replace={feed_forward.drop_hidden: whole_features},
)

kept_for_dropped = Mutant(
    "FF-kept-for-dropped",
    story="the probability is taken for that of keeping",
    breaks={"FF-DROP-2", "FF-DROP-3"},
    hint="dropout is the probability of zero",
    replace={
        feed_forward.drop_hidden: lambda features, probability: (
            torch.dropout(features, 1 - probability, train=True) if probability else features
        ),
    },
)


def dropping_behind(x, weights, activation, dropout):
    out = feed_forward.narrow(feed_forward.hidden(x, weights, activation), weights)
    return torch.dropout(out, dropout, train=dropout > 0)


dropout_behind = Mutant(
    "FF-dropout-behind",
    story="the output is dropped, with the hidden features or instead of them",
    breaks={"FF-DROP-3"},
    hint="between activation and second layer; the layer around drops what it adds to the residual",
    replace={feed_forward.feed_forward: dropping_behind},
)

no_dropout = Mutant(
    "FF-no-dropout",
    story="nothing is dropped in training",
    breaks={"FF-DROP-3"},
    hint="dropout between activation and second layer",
    replace={feed_forward.drop_hidden: lambda features, probability: features},
)

input_dropped = Mutant(
    "FF-input-dropped",
    story="x is dropped instead of the hidden features",
    breaks={"FF-DROP-2", "FF-DROP-3"},
    hint="between activation and second layer",
    replace={
        feed_forward.feed_forward: lambda x, weights, activation, dropout: feed_forward.narrow(
            feed_forward.hidden(torch.dropout(x, dropout, train=dropout > 0), weights, activation), weights
        ),
    },
)

# -- precision


def in_bfloat16(x, weights):
    if x.dtype != torch.float32:
        return feed_forward.linear(x, weights, "up")
    return feed_forward.linear(x.bfloat16(), {name: w.bfloat16() for name, w in weights.items()}, "up").float()


autocast = Mutant(
    "FF-autocast",
    story="float32 goes through bfloat16, as under an autocast that was left on",
    breaks={"FF-HALF-1"},
    hint="leave autocast to the caller",
    replace={feed_forward.widen: in_bfloat16},
)


def in_eight_bits(features, probability):
    if features.dtype not in (torch.bfloat16, torch.float16):
        return torch.dropout(features, probability, train=probability > 0)
    return features.to(torch.float8_e5m2).to(features.dtype)


eight_bits = Mutant(
    "FF-eight-bits",
    story="in half precision hidden features are kept in eight bits",
    breaks={"FF-HALF-1"},
    hint="in the dtype of the input; quantisation is another model",
    replace={feed_forward.drop_hidden: in_eight_bits},
)

# -- gradients

first_layer_frozen = Mutant(
    "FF-first-layer-frozen",
    story="no gradient reaches the first layer",
    breaks={"FF-ORACLE-1"},
    hint="no detach, no .data, no no_grad between the layers",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features.detach() + 0 * features, weights, "down"
        )
    },
)


class StraightThrough(torch.autograd.Function):
    """ReLU whose backward pass lets everything through."""

    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        return grad


def relu_straight_through(x):
    return StraightThrough.apply(x)


straight_through = Mutant(
    "FF-straight-through",
    story="the backward pass of ReLU lets everything through",
    breaks={"FF-ORACLE-1"},
    hint="the gradient is 0 where the unit is off",
    replace={feed_forward.relu: relu_straight_through},
)

sparsified = Mutant(
    "FF-sparsified",
    story="hidden features below 0.2 are set to 0, to save work in the second layer",
    breaks={"FF-ORACLE-1"},
    hint="a threshold is another activation: say so",
    replace={feed_forward.relu: lambda x: x * (x > 0.2)},
)

gate_frozen = Mutant(
    "FF-gate-frozen",
    story="no gradient reaches the gate",
    breaks={"FF-ORACLE-2"},
    hint="the gate learns, too",
    replace={
        feed_forward.open_gate: lambda x, weights: feed_forward.linear(
            x, {**weights, "gate.weight": weights["gate.weight"].detach()}, "gate"
        ),
    },
)

# -- what computes nothing passes by definition

VACUOUS = (
    Vacuous(NUMBERS, "FF-DROP-1", "the same values give the same output"),
    Vacuous(NUMBERS, "FF-TOKEN-1 FF-BATCH-1 FF-PLACE-1", "an output depends on its own token, or on nothing"),
    Vacuous(("zeros",), "FF-DOWN-1", "0 is linear in the second layer"),
    Vacuous(CONSTANT, "FF-UP-1 FF-BIAS-1 FF-GATE-3", "neither x nor the first layer has an effect"),
    Vacuous(("zeros", "echo"), "FF-NOBIAS-1", "0 at 0, and no bias has an effect"),
    Vacuous(("echo",), "FF-NONE-1", "without activation one hidden feature can be the input"),
    Vacuous((*ZERO_APART, "echo"), "FF-DROP-2", "a module without dropout is right, and not 0"),
)
