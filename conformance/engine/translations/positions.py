"""Tables, rotations and biases of positions in declared conventions."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward
from attnconf.conformance.engine.translations import Choice
from attnconf.conformance.engine.translations.order import inverse, side_by_side


def sinusoidal(build: Build, choice: Choice) -> Build:
    """Translate a table of sines: added or alone, its layout, its frequencies, its first position."""
    first, output = int(choice("sinusoidal-offset")), choice("sinusoidal-output")

    def component(config: Any, weights: Any) -> Forward:
        forward = build(_with_frequencies(config, config.dim, choice), weights)
        there = side_by_side(choice("sinusoidal-layout"), config.dim)
        scale = {"add": 1.0, "table": 0.0, "scaled-add": math.sqrt(config.dim)}[output]

        def translated(x: Tensor, *, positions: Tensor | None = None) -> Any:
            if first:
                positions = (torch.arange(x.shape[1], device=x.device) if positions is None else positions) + first
            given = {} if positions is None else {"positions": positions}
            return forward(scale * x[..., inverse(there)], **given)[..., there]

        return translated

    return component


def _with_frequencies(config: Any, width: int, choice: Choice) -> Any:
    """Return the configuration with the base at which the paper's frequencies are the declared ones."""
    half = width // 2  # base^(-i/(half - 1)) is the paper's frequency for another base
    if choice("sinusoidal-frequencies") == "paper" or half < 2:
        return config
    return replace(config, base=config.base ** (half / (half - 1)))


def sinusoidal_2d(build: Build, choice: Choice) -> Build:
    """Translate a table of sines over a grid: its axes, its layout, its first position."""
    first = int(choice("sinusoidal-offset"))

    def component(config: Any, weights: Any) -> Forward:
        forward, half = build(_with_frequencies(config, config.dim // 2, choice), weights), config.dim // 2
        axis = list(range(half))
        if choice("grid-layout") == "interleaved":  # from all sines, then all cosines
            axis = inverse(side_by_side("halves", half))
        there = [*axis, *(half + i for i in axis)]
        if choice("grid-axes") == "height-first":
            there = there[half:] + there[:half]

        def translated(height: int, width: int) -> Any:
            return forward(height + first, width + first)[first:, first:, there]

        return translated

    return component


def learned(build: Build, choice: Choice) -> Build:
    """Translate a learned table: added or alone, its first row."""
    first, scale = int(choice("learned-offset")), 1.0 if choice("learned-output") == "add" else 0.0

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, {"table.weight": weights["table.weight"][first:]})
        return lambda x, **given: forward(scale * x, **given)

    return component


def rotary(build: Build, choice: Choice) -> Build:
    """Translate rotations: which features make a pair."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        turned = side_by_side("halves" if choice("rope-pairing") == "half" else "interleaved", config.rotary_dim)
        there = [*turned, *range(config.rotary_dim, config.head_dim)]
        return lambda x, **given: forward(x[..., inverse(there)], **given)[..., there]

    return component


def rotary_attention(build: Build, choice: Choice) -> Build:
    """Translate attention with rotations: which features of queries and keys make a pair."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        back = inverse(side_by_side("halves" if choice("rope-pairing") == "half" else "interleaved", config.head_dim))
        return lambda query, key, value, **given: forward(query[..., back], key[..., back], value, **given)

    return component


def t5_attention(build: Build, choice: Choice) -> Build:
    """Translate attention with a relative bias: its scale."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        scale = 1.0 if choice("t5-scale") == "none" else config.head_dim**-0.5
        return lambda query, key, value: forward(scale * query, key, value)

    return component
