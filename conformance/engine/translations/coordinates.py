"""Features of coordinates, and networks over them, in declared conventions."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.translations import Choice

FACTORS = {"1": 1.0, "pi": math.pi, "2pi": 2 * math.pi}  # of fourier-factor

# Where the axes (coordinate, sine or cosine, frequency) of the reference stand in each order.
ORDERS = {
    "coordinate": (0, 1, 2), "frequency": (2, 1, 0), "function": (1, 0, 2), "coordinate-frequency": (0, 2, 1),
    "function-frequency": (1, 2, 0),
}  # fmt: skip


def fourier(build: Build, choice: Choice) -> Build:
    """Translate Fourier features: their factor, their order, coordinates kept beside them."""
    factor, order, beside = FACTORS[choice("fourier-factor")], choice("fourier-order"), choice("fourier-input")

    def component(config: Any, weights: Any) -> Forward:
        forward = build(replace(config, frequencies=tuple(factor * f for f in config.frequencies)), weights)

        def translated(x: Tensor) -> Any:
            features = forward(x).unflatten(-1, (config.in_dim, 2, -1))
            features = features.movedim([axis - 3 for axis in ORDERS[order]], [-3, -2, -1]).flatten(-3)
            return torch.cat({"kept": [x, features], "kept-last": [features, x]}.get(beside, [features]), dim=-1)

        return translated

    return component


def random_fourier(build: Build, choice: Choice) -> Build:
    """Translate random Fourier features: sines or cosines first."""

    def component(config: Any, weights: Any) -> Forward:
        forward, shift = build(config, weights), config.num_features * (choice("random-fourier-order") == "sin-first")
        return lambda x: forward(x).roll(shift, dims=-1)

    return component


def coordinate_mlp(build: Build, choice: Choice) -> Build:
    """Translate a network over Fourier features: the columns of its first weight."""
    factor, order, beside = FACTORS[choice("fourier-factor")], choice("fourier-order"), choice("fourier-input")
    kept, last = beside != "dropped", beside == "kept-last"

    def component(config: Any, weights: Any) -> Forward:
        d, K = config.in_dim, len(config.frequencies)
        config = replace(config, frequencies=tuple(factor * f for f in config.frequencies))
        # from where the declared order has them to (coordinate, function, frequency)
        axes, sizes = ORDERS[order], (d, 2, K)
        there = torch.arange(2 * d * K).unflatten(0, [sizes[axis] for axis in axes])
        columns = there.permute(*(axes.index(axis) for axis in range(3))).flatten()
        first, bias = weights["0.weight"], weights["0.bias"]
        first = first.roll(d, dims=1) if last else first
        coordinates, features = first[:, : d * kept], first[:, d * kept :][:, columns]
        if not kept:
            return build(config, {**weights, "0.weight": features})

        def translated(x: Tensor) -> Any:  # coordinates that are kept add a bias for each point
            each = [{**weights, "0.weight": features, "0.bias": bias + coordinates @ point} for point in x]
            return torch.cat([build(config, w)(point[None]) for w, point in zip(each, x, strict=True)])

        return translated

    return component
