"""Checks of the chapter spec/feed_forward.md. Most change weights and know what follows.

In a case B is the batch, L the tokens, E the width of the model and S the hidden width. Weights are *canonical* here:
``gate`` is what goes through the activation. What the subject is given has the names that it declares.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import FeedForwardConfig
from attnconf.conformance.chapters.feed_forward import stimuli
from attnconf.conformance.chapters.shared.layers import draw_linear
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget
from attnconf.conformance.engine.evidence import Measure, Unsupported, close, holds, identical
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import OTHER_LAYER
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.feed_forward import activate, feed_forward, hidden

Evidence = Iterator[Measure]
Weights = dict[str, Tensor]
P = 0.25  # of dropout
FAMILIAR = ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu")  # activations that networks without a gate have
# Where activations bend and are small, so that GELU and its approximation are a thousand bounds apart; and the others.
POINTS = ((-3.5, -3.0, -2.7, -2.5, -2.0, -1.0, -0.75, -0.25), (0.0, 0.3, 1.0, 2.7, 8.0), (-1000.0, 1000.0))


# -- asking


def manner(subject: Subject, case: Case, **changes: Any) -> FeedForwardConfig:
    """Return the configuration of what the subject declares to be, with changes."""
    declared = FeedForwardConfig(
        case.width, case.hidden, subject.choice("activation"), subject.choice("gated") == "yes",
        bias=subject.choice("layer-bias") == "yes",
    )  # fmt: skip
    return replace(declared, **changes)


def with_gate(subject: Subject, case: Case, **changes: Any) -> FeedForwardConfig:
    """Return the configuration of what the subject declares to be if that has a gate, else that of SwiGLU."""
    activation = subject.choice("activation") if subject.choice("gated") == "yes" else "silu"
    return manner(subject, case, gated=True, activation=activation, **changes)


def draw(case: Case, config: FeedForwardConfig) -> Weights:
    """Return canonical weights with which hidden features have variance about 2."""
    weights = draw_linear(case, "up", config.hidden_dim, config.embed_dim, config.bias, math.sqrt(2))
    if config.gated:
        weights |= draw_linear(case, "gate", config.hidden_dim, config.embed_dim, config.bias, math.sqrt(2))
    return weights | draw_linear(case, "down", config.embed_dim, config.hidden_dim, config.bias)


def renamed(subject: Subject, by_name: Mapping[str, Tensor]) -> Weights:
    """Return weights or gradients by the subject's names for canonical ones, and the other way round."""
    other = {} if subject.choice("glu-activated") == "gate" else OTHER_LAYER
    return {other.get(name, name): w for name, w in by_name.items()}


def call_on(subject: Subject, config: FeedForwardConfig, weights: Weights, x: Tensor) -> Call:
    """Return the call on x with canonical weights."""
    handed = renamed(subject, weights) if config.gated else weights
    return Call(subject.component, config, handed, {"x": x}, tuple(x.shape))


def run(subject: Subject, config: FeedForwardConfig, weights: Weights, x: Tensor, **options: Any) -> Reply:
    """Return the reply for canonical weights; with a cotangent, with the gradients of x and of them all."""
    call = call_on(subject, config, weights, x)
    if "cotangent" in options:
        options["wrt"] = ("x", *call.weights)
    reply = subject.call(call.asked(**options))
    grads = renamed(subject, reply.grads) if config.gated and subject.gradients else reply.grads
    return Reply(reply.out, None, grads, reply.changed)


def usual_call(subject: Subject, case: Case, x: Tensor) -> Call:
    """Return the call on x of what the subject declares to be, with the weights of the case."""
    config = manner(subject, case)
    return call_on(subject, config, draw(case, config), x)


def ask(subject: Subject, case: Case, x: Tensor, **options: Any) -> Reply:
    """Return the reply to x of what the subject declares to be, with the weights of the case."""
    config = manner(subject, case)
    return run(subject, config, draw(case, config), x, **options)


def tokens(case: Case, what: str = "x") -> Tensor:
    return case.draw(what, case.B, case.L, case.width)


def first_layers(weights: Weights) -> list[str]:
    """Return the names of the layers that read x."""
    return [name for name in ("up", "gate") if f"{name}.weight" in weights]


# -- the call


# -- position-wise


@requirement("FF-TOKEN-1", stimuli.BATCHES, any_weights=True)
def other_tokens_have_no_influence(subject: Subject, case: Case) -> Evidence:
    x, whole = tokens(case), ask(subject, case, tokens(case)).out
    for t in (0, case.L // 2, case.L - 1):
        among = tokens(case, "others").clone()
        among[:, t] = x[:, t]
        yield close(ask(subject, case, among).out[:, t], whole[:, t], f"out of token {t} among others than before")


@requirement("FF-BATCH-1", stimuli.BATCHES, any_weights=True)
def other_samples_have_no_influence(subject: Subject, case: Case) -> Evidence:
    x, whole = tokens(case), ask(subject, case, tokens(case)).out
    for b in (0, case.B - 1):
        among = tokens(case, "others").clone()
        among[b] = x[b]
        yield close(ask(subject, case, among).out[b], whole[b], f"out of sample {b} among others than before")


@requirement("FF-PLACE-1", stimuli.USUAL, any_weights=True)
def equal_tokens_get_equal_outputs(subject: Subject, case: Case) -> Evidence:
    token = tokens(case)[:1, :1]
    alone = ask(subject, case, token.clone()).out
    for samples, length in ((case.B, case.L), (1, case.L), (case.B, 1)):
        out = ask(subject, case, token.repeat(samples, length, 1)).out
        yield close(
            out, alone.expand_as(out), f"out of {samples} samples of {length} equal tokens, against of one alone,"
        )


# -- the two layers


@requirement("FF-DOWN-1", stimuli.USUAL)
def the_output_is_linear_in_the_second_layer(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case), tokens(case)
    weights = draw(case, config)
    out = run(subject, config, weights, x).out
    mixed = case.draw("mix", case.width, case.width)
    after = {name: mixed @ w if name.startswith("down") else w for name, w in weights.items()}
    got = run(subject, config, after, x).out
    yield close(got, out @ mixed.to(out).T, "out with the second layer times a matrix A, against A·out,")


@requirement("FF-UP-1", stimuli.USUAL)
def the_input_is_read_through_the_first_weight(subject: Subject, case: Case) -> Evidence:
    """Scales are powers of 2: nothing is rounded."""
    config, x = manner(subject, case), tokens(case)
    weights = draw(case, config)
    order = case.permutation("order", case.width)
    scale = 2.0 ** (torch.arange(case.width, device=case.device) % 5 - 1).to(case.dtype)
    for name in first_layers(weights):
        weights[f"{name}.weight"] = weights[f"{name}.weight"][:, order] / scale
    got = run(subject, config, weights, x[..., order] * scale).out
    yield close(got, ask(subject, case, x).out, "out with features of x renamed and scaled, in the weight too,")


@requirement("FF-BIAS-1", stimuli.USUAL)
def the_first_bias_is_added_before_the_activation(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case), tokens(case)
    yield moved_into_the_bias(subject, config, draw(case, config), x, case.draw("shift", case.width), ("up", "gate"))


def moved_into_the_bias(
    subject: Subject, config: FeedForwardConfig, weights: Weights, x: Tensor, shift: Tensor, layers: tuple[str, ...]
) -> Measure:
    """Return the measure of out at x + shift against out at x with W·shift in the biases of the layers."""
    want = run(subject, config, weights, x + shift).out
    other = {f"{name}.bias": weights[f"{name}.bias"] + weights[f"{name}.weight"] @ shift
             for name in first_layers(weights) if name in layers}  # fmt: skip
    got = run(subject, config, {**weights, **other}, x).out
    return close(got, want, f"out with b + W·d for a bias of {' and '.join(layers)}, against out of x + d,")


@requirement("FF-BIAS-2", stimuli.USUAL)
def the_second_bias_is_added_once(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case), tokens(case)
    weights, shift = draw(case, config), case.draw("shift", case.width)
    want = run(subject, config, weights, x).out + shift
    got = run(subject, config, {**weights, "down.bias": weights["down.bias"] + shift}, x).out
    yield close(got, want, "out with the second bias + c, against out + c,")


@requirement("FF-NOBIAS-1", stimuli.USUAL)
def no_biases_are_biases_of_zero(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case, bias=False), tokens(case)
    weights = draw(case, config)
    nothing = run(subject, config, weights, torch.zeros_like(x)).out  # all that may be declared is 0 at 0
    yield close(nothing, torch.zeros_like(x), "out of zeros without biases", unit=1.0)
    if subject.offers("layer-bias"):
        zero = {f"{name}.bias": x.new_zeros(weights[f"{name}.weight"].shape[0]) for name in layers_of(weights)}
        want = run(subject, replace(config, bias=True), {**weights, **zero}, x).out
        yield close(run(subject, config, weights, x).out, want, "out without biases, against biases of 0,")


def layers_of(weights: Weights) -> list[str]:
    return [*first_layers(weights), "down"]


@requirement("FF-HIDDEN-1", stimuli.USUAL, stimuli.EDGES)
def every_hidden_feature_adds_its_own(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case), tokens(case)
    weights, cut = draw(case, config), case.hidden // 2
    if config.bias:
        weights["down.bias"] = torch.zeros_like(weights["down.bias"])
    out = run(subject, config, weights, x).out
    yield holds(bool(out.any()), "out is 0")
    if cut:
        first = run(subject, replace(config, hidden_dim=cut), some(weights, slice(cut)), x).out
        others = run(subject, replace(config, hidden_dim=case.hidden - cut), some(weights, slice(cut, None)), x).out
        yield close(first + others, out, f"out of the first {cut} hidden features plus out of the others,")


def some(weights: Weights, part: slice) -> Weights:
    """Return the weights of some hidden features."""
    return {
        name: w[:, part] if name == "down.weight" else w if name == "down.bias" else w[part]
        for name, w in weights.items()
    }  # fmt: skip


# -- the activation


def through(subject: Subject, case: Case, config: FeedForwardConfig, points: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Return z (1, N, 1), and what the subject makes of one hidden feature that is z before the activation.

    Where there is a gate both layers are z, so that it does not matter here which of the two is activated.
    """
    z = torch.tensor(points, dtype=case.dtype, device=case.device).reshape(1, -1, 1)
    weights = {name: torch.zeros_like(w) for name, w in draw(case, config).items()}
    for name in layers_of(weights):
        weights[f"{name}.weight"][0, 0] = 1.0
    return z, run(subject, config, weights, torch.nn.functional.pad(z, (0, case.width - 1))).out[..., :1]


def activated(z: Tensor, config: FeedForwardConfig) -> Tensor:
    """Return the hidden feature for z, times z where there is a gate."""
    return activate(z, config.activation) * (z if config.gated else 1.0)


def activates(subject: Subject, case: Case, activation: str) -> Evidence:
    config = manner(subject, case, activation=activation)
    for points in POINTS:
        z, got = through(subject, case, config, points)
        yield close(got, activated(z, config), f"{activation} of {list(points)}" + ", times that" * config.gated)


@requirement("FF-RELU-1", stimuli.ONE)
def relu_is_the_positive_part(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "relu")


@requirement("FF-GELU-1", stimuli.ONE)
def gelu_is_the_exact_one(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "gelu")


@requirement("FF-GELUTANH-1", stimuli.ONE)
def gelu_tanh_is_the_approximation(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "gelu-tanh")


@requirement("FF-QUICKGELU-1", stimuli.ONE)
def quick_gelu_is_the_approximation_by_a_sigmoid(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "quick-gelu")


@requirement("FF-SILU-1", stimuli.ONE)
def silu_is_z_times_its_sigmoid(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "silu")


@requirement("FF-SIGMOID-1", stimuli.ONE)
def sigmoid_is_the_logistic_function(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "sigmoid")


@requirement("FF-NONE-1", stimuli.ONE)
def none_changes_nothing(subject: Subject, case: Case) -> Evidence:
    yield from activates(subject, case, "none")


# -- the gate


@requirement("FF-GATE-1", stimuli.USUAL)
def what_is_not_activated_is_linear(subject: Subject, case: Case) -> Evidence:
    config, x = with_gate(subject, case), tokens(case)
    weights = draw(case, config)
    if config.bias:
        weights["down.bias"] = torch.zeros_like(weights["down.bias"])
    out = run(subject, config, weights, x).out
    for by in (-1.0, 8.0):
        scaled = {name: by * w if name.startswith("up.") else w for name, w in weights.items()}
        got = run(subject, config, scaled, x).out
        yield close(got, by * out, f"out with the layer that is not activated times {by:g}, against {by:g} times out,")
    yield holds(bool(out.any()), "out is 0")


@requirement("FF-GATE-2", stimuli.ONE)
def the_activated_layer_goes_through_the_activation(subject: Subject, case: Case) -> Evidence:
    config = with_gate(subject, case)
    for points in POINTS:
        z, got = through(subject, case, config, points)
        yield close(got, activated(z, config), f"out where gate and up are {list(points)}")


@requirement("FF-GATE-3", stimuli.USUAL)
def the_gate_adds_its_own_bias(subject: Subject, case: Case) -> Evidence:
    """The other layer reads features that are not moved."""
    config, x = with_gate(subject, case), tokens(case)
    weights, shift = draw(case, config), case.draw("shift", case.width)
    half = torch.arange(case.width, device=case.device) < case.width // 2
    weights["up.weight"] = weights["up.weight"] * ~half
    yield moved_into_the_bias(subject, config, weights, x, shift * half, ("gate",))


# -- dropout


@requirement("FF-DROP-1", stimuli.ONE, any_weights=True)
def dropout_is_off_in_evaluation(subject: Subject, case: Case) -> Evidence:
    config, x = manner(subject, case), tokens(case)
    want = run(subject, config, draw(case, config), x, seed=2).out
    got = run(subject, replace(config, dropout=P), draw(case, config), x, seed=1).out
    yield close(got, want, "out in evaluation with dropout, against out without,")


@requirement("FF-DROP-2", stimuli.HALF)
def training_drops_at_the_given_rate(subject: Subject, case: Case) -> Evidence:
    """With an identity for the second layer the output is the hidden features, of which none is 0 by itself."""
    case = case.but(B=max(2, case.B), L=max(17, case.L), width=max(24, case.width))  # a rate needs numbers
    config = manner(subject, case, hidden_dim=case.width)
    weights, x = {name: w.abs() for name, w in draw(case, config).items()}, tokens(case).abs()
    weights["down.weight"] = torch.eye(case.width, dtype=case.dtype, device=case.device)
    if config.bias:
        weights["down.bias"] = torch.zeros_like(weights["down.bias"])
    evaluated = run(subject, config, weights, x, seed=2).out
    trained = run(subject, replace(config, dropout=P, training=True), weights, x, seed=1).out
    gone = trained == 0
    if not bool(gone.any()):
        yield close(trained, evaluated, "out in training, where nothing is dropped, against out in evaluation,")
        return
    twice = float((trained / evaluated)[~gone].median()) > (1 - P) ** -1.5  # before the second layer and behind it
    left = (1 - P) ** (2 if twice else 1)
    want = torch.where(gone, 0.0, evaluated / left)
    yield close(trained, want, f"out in training, against 0 or out in evaluation divided by {left:g},")
    rate, n = float(gone.double().mean()), gone.numel()
    slack = 5 * math.sqrt(left * (1 - left) / n)
    message = f"{100 * rate:.1f} % of {n} elements are dropped, want {100 * (1 - left):.0f} % ± {100 * slack:.1f} %"
    yield holds(abs(rate - (1 - left)) <= slack, message)
    for axis, what in ((0, "sample"), (1, "token"), (2, "feature")):
        yield holds(bool((gone.double().std(dim=axis) > 0).any()), f"the same is dropped in every {what}")


@requirement("FF-DROP-3", stimuli.USUAL)
def dropout_acts_on_the_hidden_features(subject: Subject, case: Case) -> Evidence:
    """With probability 1 all of them are 0, and nothing else is."""
    config, x = manner(subject, case), tokens(case)
    weights = draw(case, config)
    trained = run(subject, replace(config, dropout=1.0, training=True), weights, x, seed=1).out
    want = weights["down.bias"].expand_as(x) if config.bias else torch.zeros_like(x)
    yield identical(trained, want, "out in training with all hidden features dropped, against the second bias,")


# -- precision


@requirement("FF-HALF-1", stimuli.HALF)
def few_digits_are_lost(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        c = case.but(dtype=dtype)
        config, x = manner(subject, c), tokens(c)
        weights = draw(c, config)
        for kind in ("weight", "bias") if config.gated else ():  # equal: which is activated does not matter here
            weights |= {f"gate.{kind}": weights[f"up.{kind}"]} if f"up.{kind}" in weights else {}
        exact = {name: w.double() for name, w in weights.items()}
        want = feed_forward(x.double(), exact, config.activation)
        orders = (feed_forward(x, weights, config.activation), in_halves(x, weights, config.activation))
        errors = [out.double() - want for out in orders]
        baseline = max(float(e.abs().max()) for e in errors), max(float(e.square().mean().sqrt()) for e in errors)
        yield error_budget(run(subject, config, weights, x).out, want, baseline, dtype)


def in_halves(x: Tensor, weights: Weights, activation: str) -> Tensor:
    """Return the same in another order: the sums over hidden features in two parts, the bias between them."""
    features, half = hidden(x, weights, activation), weights["down.weight"].shape[1] // 2
    first, second = (
        features[..., part] @ weights["down.weight"][:, part].T for part in (slice(half), slice(half, None))
    )
    return first + weights["down.bias"] + second if "down.bias" in weights else first + second


# -- everything at once


@requirement("FF-ORACLE-1", stimuli.USUAL, stimuli.EDGES)
def output_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    yield from oracle(subject, case, manner(subject, case))
    for activation in FAMILIAR:
        if activation != subject.choice("activation") and min(case.B, case.L, case.hidden) > 1:
            with suppress(Unsupported):  # only what is declared must be there
                yield from oracle(subject, case, manner(subject, case, activation=activation))


@requirement("FF-ORACLE-2", stimuli.USUAL)
def output_and_gradients_with_a_gate_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    yield from oracle(subject, case, with_gate(subject, case))


def oracle(subject: Subject, case: Case, config: FeedForwardConfig) -> Evidence:
    weights, x, cotangent = draw(case, config), tokens(case), tokens(case, "cotangent")

    def expected() -> tuple[Tensor, list[Tensor]]:
        leaves = {name: w.clone().requires_grad_() for name, w in {"x": x, **weights}.items()}
        out = feed_forward(leaves["x"], leaves, config.activation)
        return out.detach(), slopes([(out, cotangent)], list(leaves.values()))

    want, grads = case.once(f"wanted {config}", expected)
    reply = run(subject, config, weights, x, cotangent=cotangent)
    yield close(reply.out, want)
    for name, grad in zip(("x", *weights), grads, strict=True):
        yield close(reply.grads[name], grad, f"gradient of {name}")
