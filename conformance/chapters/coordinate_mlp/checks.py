"""Checks of the chapter spec/coordinate_mlp.md. Most change weights and know what follows.

Weights are *canonical* here: the columns of the first layer stand as kept coordinates, sines, cosines, each coordinate
by coordinate. What the subject is given has them in its declared order.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import CoordinateMlpConfig
from attnconf.conformance.chapters.coordinate_mlp import stimuli
from attnconf.conformance.chapters.fourier.checks import (
    apart,
    bank,
    canonical,
    factor,
    formula,
    kept,
    near,
    points,
    true_angles,
    width,
)
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, Measure, close, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.coordinate_mlp import layers

Evidence = Iterator[Measure]
Weights = Mapping[str, Tensor]


def sizes(subject: Subject, case: Case, hidden: Sequence[int] = ()) -> list[int]:
    """Return the widths of features, hidden layers and colours."""
    return [
        width(subject, case.coordinates, case.frequencies),
        *(hidden or (case.hidden, case.next_hidden)),
        case.colours,
    ]


def draw_layers(case: Case, widths: Sequence[int]) -> dict[str, Tensor]:
    """Return weights that keep numbers as large as they are from layer to layer, and biases, between ``widths``."""
    weights = {}
    for i, (wide, narrow) in enumerate(pairwise(widths)):
        weights[f"{i}.weight"] = case.draw(f"{i}.weight", narrow, wide) * math.sqrt(2 / wide)
        weights[f"{i}.bias"] = case.draw(f"{i}.bias", narrow) / 2
    return weights


def in_declared_order(subject: Subject, weight: Tensor, d: int) -> Tensor:
    """Return the first layer's weight with its columns where the subject has them."""
    columns = torch.arange(weight.shape[1], device=weight.device)
    places = torch.cat([apart(subject, columns, d)[0], canonical(subject, columns, d).flatten()])
    return weight[:, places.argsort()]


def call_on(subject: Subject, case: Case, x: Tensor, weights: Weights) -> Call:
    """Return the call on points x with canonical weights."""
    rows = [weights[f"{i}.weight"].shape[0] for i in range(len(weights) // 2)]
    config = CoordinateMlpConfig(case.coordinates, bank(subject, case), tuple(rows[:-1]), rows[-1])
    handed = {**weights, "0.weight": in_declared_order(subject, weights["0.weight"], case.coordinates)}
    return Call(subject.component, config, handed, {"x": x}, (len(x), rows[-1]))


def run(subject: Subject, case: Case, x: Tensor, weights: Weights, **options: Any) -> Reply:
    """Return the reply for canonical weights; gradients of 0.weight are canonical, too."""
    reply = subject.call(call_on(subject, case, x, weights).asked(**options))
    if not subject.gradients or "0.weight" not in reply.grads:
        return reply
    columns = torch.arange(width(subject, case.coordinates, case.frequencies), device=x.device)[None]
    back = in_declared_order(subject, columns, case.coordinates)[0].argsort()
    return Reply(reply.out, None, {**reply.grads, "0.weight": reply.grads["0.weight"][:, back]}, reply.changed)


def low_points(subject: Subject, case: Case) -> Tensor:
    """Return points at which no angle is larger than 2√3."""
    return points(case) * 2 / (factor(subject) * max(bank(subject, case)))


# -- what goes in


@requirement("CMLP-POINTS-1", stimuli.USUAL, any_weights=True)
def a_point_has_its_own_colour(subject: Subject, case: Case) -> Evidence:
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case))
    whole = run(subject, case, x, weights).out
    yield close(run(subject, case, x[:1], weights).out, whole[:1], "out of one point alone, against among others,")
    one = x[-1:].expand(4, -1).contiguous()
    got = run(subject, case, one, weights).out
    yield close(got, whole[-1:].expand_as(got), "out of one point four times, against once among others,")


@requirement("CMLP-FEATURES-1", stimuli.USUAL)
def the_first_layer_reads_the_features(subject: Subject, case: Case) -> Evidence:
    """Every feature goes through a pair of units, once with each sign: ReLU(z) - ReLU(-z) = z."""
    W, x = width(subject, case.coordinates, case.frequencies), points(case)
    both = torch.cat([torch.eye(W, dtype=x.dtype, device=x.device), -torch.eye(W, dtype=x.dtype, device=x.device)])
    weights = {"0.weight": both, "0.bias": both.new_zeros(2 * W), "1.weight": both.T, "1.bias": both.new_zeros(W)}
    out = run(subject, case, x, weights).out
    angle = true_angles(subject, x, bank(subject, case))
    want = torch.cat([x[:, : kept(subject, case.coordinates)], formula(angle).flatten(1)], dim=1)
    yield near(out, want, "what the first layer reads", float(angle.abs().max()))


# -- between the layers


@requirement("CMLP-RELU-1", stimuli.USUAL)
def units_below_zero_pass_nothing_on(subject: Subject, case: Case) -> Evidence:
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case))
    for i in range(len(weights) // 2 - 1):
        low = {**weights, f"{i}.bias": weights[f"{i}.bias"] - 1000}
        other = {**low, f"{i + 1}.weight": case.draw("other weight", *weights[f"{i + 1}.weight"].shape)}
        got, want = run(subject, case, x, low).out, run(subject, case, x, other).out
        yield close(got, want, f"out with all units of layer {i} below 0, against other weights after it,")


@requirement("CMLP-RELU-2", stimuli.USUAL)
def a_factor_may_move_through_the_activation(subject: Subject, case: Case) -> Evidence:
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case))
    want = run(subject, case, x, weights).out
    for i in range(len(weights) // 2 - 1):
        for by in (16.0, 1 / 16):
            moved = {name: weights[name] * by for name in (f"{i}.weight", f"{i}.bias")}
            after = {f"{i + 1}.weight": weights[f"{i + 1}.weight"] / by}
            got = run(subject, case, x, {**weights, **moved, **after}).out
            yield close(got, want, f"out with layer {i} times {by:g} and the weights after it divided by it")


@requirement("CMLP-LAST-1", stimuli.USUAL)
def the_output_is_linear_in_the_last_layer(subject: Subject, case: Case) -> Evidence:
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case))
    want, last = run(subject, case, x, weights).out, len(weights) // 2 - 1
    for by in (-1.0, 8.0):
        scaled = {name: weights[name] * by for name in (f"{last}.weight", f"{last}.bias")}
        yield close(
            run(subject, case, x, {**weights, **scaled}).out, by * want, f"out with the last layer times {by:g}"
        )


@requirement("CMLP-BIAS-1", stimuli.USUAL)
def every_bias_is_added(subject: Subject, case: Case) -> Evidence:
    """The last one to the very number; the others, of layers that get nothing else, make a difference."""
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case))
    last = len(weights) // 2 - 1
    shift = case.draw("shift", case.colours)
    shifted = {**weights, f"{last}.bias": weights[f"{last}.bias"] + shift}
    want = run(subject, case, x, weights).out + shift
    yield close(run(subject, case, x, shifted).out, want, "out with the last bias + c, against out + c,")
    positive = {name: w.abs() for name, w in weights.items()}  # so that no unit is dead, and nothing cancels
    for i in range(last):
        alone = {**positive, f"{i}.weight": torch.zeros_like(weights[f"{i}.weight"])}
        bias = positive[f"{i}.bias"] + 0.5
        got, none = (run(subject, case, x, {**alone, f"{i}.bias": b}).out for b in (bias, torch.zeros_like(bias)))
        moved = float((got - none).abs().max())
        yield holds(moved > 0.01 * float(got.abs().max()), f"the bias of layer {i} makes no difference to out")


# -- gradients and side effects


def away_from_zero(subject: Subject, case: Case) -> dict[str, Tensor]:
    """Return weights with which no unit comes within 1 of ReLU's kink, as biases are larger than all else.

    Every third unit of a layer is below 0.
    """
    weights = draw_layers(case, sizes(subject, case))
    largest = math.sqrt(3)
    for i in range(len(weights) // 2 - 1):
        w = weights[f"{i}.weight"]
        clear = torch.full_like(weights[f"{i}.bias"], float(w.abs().sum(dim=1).max()) * largest + 1)
        largest = 2 * float(clear[0])
        clear[2::3] *= -1
        weights[f"{i}.bias"] = clear
    return weights


@requirement("CMLP-GRAD-1", stimuli.USUAL)
def gradients_reach_every_weight(subject: Subject, case: Case) -> Evidence:
    x, weights = low_points(subject, case), away_from_zero(subject, case)
    cotangent = case.draw("cotangent", case.points, case.colours)
    grads = run(subject, case, x, weights, cotangent=cotangent, wrt=tuple(weights)).grads
    for name, w in weights.items():
        step = case.draw(f"direction of {name}", *w.shape) / w[0].numel()
        high, low = (run(subject, case, x, {**weights, name: w + t * step}).out for t in (0.1, -0.1))
        slope = ((high - low) * cotangent).sum() / 0.2
        unit = max(float(slope.abs()), float(grads[name].norm() * step.norm()) / math.sqrt(w.numel()))
        yield close(
            (grads[name] * step).sum(), slope, f"the derivative along a direction of {name}, against differences,",
            bound=evidence.DIFFERENCES, source=evidence.DIFFERENCES_SOURCE, unit=unit,
        )  # fmt: skip


# -- everything at once


@requirement("CMLP-ORACLE-1", stimuli.USUAL, stimuli.DEEP)
def colours_and_gradients_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    deep = (case.hidden,) * 11 if "deep" in case.name else ()
    x, weights = low_points(subject, case), draw_layers(case, sizes(subject, case, deep))
    cotangent = case.draw("cotangent", case.points, case.colours)
    features = formula(true_angles(subject, x, bank(subject, case))).flatten(1)
    leaves = {name: w.clone().requires_grad_() for name, w in weights.items()}
    want = layers(torch.cat([x[:, : kept(subject, case.coordinates)], features], dim=1), leaves)
    grads = slopes([(want, cotangent)], list(leaves.values()))
    reply = run(subject, case, x, weights, cotangent=cotangent, wrt=tuple(weights))
    yield close(reply.out, want, bound=SINGLE, source=SINGLE_SOURCE)
    unit = max(float(g.abs().max()) for g in grads)
    for name, grad in zip(weights, grads, strict=True):
        yield close(reply.grads[name], grad, f"gradient of {name}", unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


# -- precision


def rounded_formula(subject: Subject, case: Case, x: Tensor, weights: Weights) -> tuple[Tensor, tuple[float, float]]:
    """Return the formula's colours in float64 on rounded numbers, and the errors of two textbooks in their dtype."""
    features = formula(true_angles(subject, x, bank(subject, case))).flatten(1)
    features = torch.cat([x[:, : kept(subject, case.coordinates)].double(), features], dim=1)
    want = layers(features, {name: w.double() for name, w in weights.items()})
    order = case.permutation("features", features.shape[1])
    moved = {**weights, "0.weight": weights["0.weight"][:, order]}
    textbooks = (layers(features.to(x.dtype), weights), layers(features[:, order].to(x.dtype), moved))
    return want, worst([out.double() - want for out in textbooks])


@requirement("CMLP-HALF-1", stimuli.USUAL)
def colours_keep_to_the_error_budget(subject: Subject, case: Case) -> Evidence:
    for dtype in (torch.bfloat16, torch.float16):
        c = case.but(dtype=dtype)
        x, weights = low_points(subject, c), draw_layers(c, sizes(subject, c))
        want, baseline = rounded_formula(subject, c, x, weights)
        yield error_budget(run(subject, c, x, weights).out, want, baseline, dtype, steps=len(weights) // 2 + 1)
