"""Ways to get rotary positions wrong: some features only."""

import math
from dataclasses import replace

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.rotary.mutants.shared import built
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import rotary


def rotate_last(x, positions, omega, rotary_dim, size=1.0):
    if rotary_dim % 2 or rotary_dim > x.shape[-1]:
        raise ValueError(f"rotary_dim {rotary_dim}")
    turned = rotary.rotate(x[..., x.shape[-1] - rotary_dim :], positions, omega, rotary_dim, size)
    return torch.cat([x[..., : x.shape[-1] - rotary_dim], turned], dim=-1)


wrong_slice = Mutant(
    "ROPE-last-features",
    story="the last R features turn instead of the first, as in DeepSeek; here a deviation from what is declared",
    breaks={"ROPE-REST-1"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={rotary.rotate: rotate_last},
)

all_turn = Mutant(
    "ROPE-all-features",
    story="rotary_dim is ignored: all features turn",
    breaks={"ROPE-REST-1"},
    hint="x[..., :R] turns, x[..., R:] passes",
    replace={adapter.rotary: built(lambda config: replace(config, rotary_dim=config.head_dim))},
)


def without_the_rest(x, positions, omega, rotary_dim, size=1.0):
    out = rotary.rotate(x, positions, omega, rotary_dim, size)
    return torch.cat([out[..., :rotary_dim], torch.zeros_like(out[..., rotary_dim:])], dim=-1)


rest_lost = Mutant(
    "ROPE-rest-lost",
    story="features that do not turn become 0",
    breaks={"ROPE-REST-1"},
    hint="append x[..., R:] to what was turned",
    replace={rotary.rotate: without_the_rest},
)


def with_the_rest_scaled(x, positions, omega, rotary_dim, size=1.0):
    out = rotary.rotate(x, positions, omega, rotary_dim, size)
    rest = out[..., rotary_dim:] * math.sqrt(rotary_dim / x.shape[-1])
    return torch.cat([out[..., :rotary_dim], rest], dim=-1)


rest_scaled = Mutant(
    "ROPE-rest-scaled",
    story="features that do not turn are scaled",
    breaks={"ROPE-REST-1"},
    hint="append x[..., R:] as it is to what was turned",
    replace={rotary.rotate: with_the_rest_scaled},
)


def with_frequencies(change):
    """Return the component with the frequencies change(config)."""

    def component(config, weights):
        omega = rotary.scaled(change(config), config.base, config.scaling)
        size = rotary.magnitude(config.scaling)
        return lambda x, *, positions=None: rotary.rotate(x, positions, omega, config.rotary_dim, size)

    return component


exponent_of_head = Mutant(
    "ROPE-partial-exponent",
    story="the exponent has the width of the head, although fewer features turn",
    breaks={"ROPE-PART-1"},
    hint="base ** (-2i/R) with the R features that turn",
    replace={
        adapter.rotary: with_frequencies(
            lambda config: rotary.frequencies(config.head_dim, config.base)[: config.rotary_dim // 2]
        )
    },
)


def half_of_them(config):
    half = config.rotary_dim // 4 * 2 if config.rotary_dim < config.head_dim and config.rotary_dim % 2 == 0 else 0
    return replace(config, rotary_dim=half or config.rotary_dim)


half_turn = Mutant(
    "ROPE-partial-half",
    story="of the R features that are to turn half do",
    breaks={"ROPE-PART-1"},
    hint="rotary_dim counts features, not pairs",
    replace={adapter.rotary: built(half_of_them)},
)
