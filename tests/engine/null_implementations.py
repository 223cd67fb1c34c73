"""Implementations that compute nothing worth the name, for test_null_controls.py."""

from dataclasses import replace

import torch

from attnconf.adapters.reference import declares
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.conformance.engine.request import Implementation
from attnconf.reference import attention


def zeros(query, value, shape):
    return query.new_zeros(shape)


def ones(query, value, shape):
    return query.new_ones(shape)


def constant(query, value, shape):
    return query.new_full(shape, 0.7)


def nan(query, value, shape):
    return query.new_full(shape, torch.nan)


def random(query, value, shape):
    return torch.randn(shape, dtype=torch.float64).to(query)


def echo(query, value, shape):
    """The query itself; where values have another width, as much of it as fits, over and over."""
    copies = -(-shape[-1] // query.shape[-1])
    return query.repeat(*[1] * (query.ndim - 1), copies)[..., : shape[-1]].clone()


def mean(query, value, shape):
    """The mean of the values over the keys, the same for every query; cut or repeated to the width of the output."""
    wide = value.mean(dim=-2, keepdim=True).repeat(*[1] * (value.ndim - 1), -(-shape[-1] // value.shape[-1]))
    return wide[..., : shape[-1]].expand(shape).clone()


def null(name, fill):
    """Return an implementation whose output and weights come from ``fill(query, value, shape)``."""

    def attend(config, weights):
        def forward(query, key, value, *, need_weights=False, **masks):
            out = fill(query, value, (*query.shape[:-1], value.shape[-1]))
            rows = (*query.shape[:-1], key.shape[-2])
            return (out, fill(query, query.new_ones(*query.shape[:2], 1, 1), rows)) if need_weights else out

        return forward

    def multi_head(config, weights):
        def forward(query, key, value, *, need_weights=False, **masks):
            out = fill(query, value, (*query.shape[:-1], config.out_dim))
            rows = (len(query), config.num_heads, query.shape[1], key.shape[1])
            ask = query.new_ones(*rows[:3], 1)
            return (out, fill(ask, ask, rows)) if need_weights else out

        return forward

    return Implementation(name, {"attention": attend, "multi_head_attention": multi_head}, declares)


UNIFORM = Mutant(
    "ATT-uniform",
    story="every key that may be seen weighs the same",
    breaks=set(),
    hint="",
    replace={attention.weigh: lambda scores: attention.weigh(torch.where(torch.isneginf(scores), scores, 0.0))},
)

CONTROLS = {f.__name__: null(f.__name__, f) for f in (zeros, ones, constant, nan, random, echo, mean)}
CONTROLS["uniform"] = replace(
    apply([UNIFORM]), components={c: apply([UNIFORM]).components[c] for c in ("attention", "multi_head_attention")}
)
