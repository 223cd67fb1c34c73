"""The base of layers and caches, which is the eager model on each sample alone, without padding; and a pass in steps.

A sample beside which nothing is padded is what padding must give; and in float64 the library's eager attention has no
number for a query that sees nothing (reports/findings/eager_float64_padding.py).
"""

from typing import Any

import torch
from torch import Tensor

from attnconf.reports.families import models
from attnconf.reports.families.families import Family
from attnconf.reports.families.models import Seen, Situation, T

STEPS = (6, 9, 10, 11)  # how many tokens there are behind each step: six at once, three at once, and one by one


def alone(family: Family, situation: Situation) -> tuple[list[Tensor], list[Tensor]]:
    """Return what each layer gives for the real tokens, and last what the model gives, in float64 and in float32."""
    double, single = (_alone(family, situation, dtype) for dtype in (torch.float64, torch.float32))
    return double, single


def _alone(family: Family, situation: Situation, dtype: torch.dtype) -> list[Tensor]:
    model = models.build(family, "eager", dtype)
    samples = [models.trace(family, model, situation, dtype, sample) for sample in range(len(situation.keep))]
    layers = zip(*(s.layers for s in samples), strict=True)
    outs = [[seen.out for seen in parts] for parts in layers] + [[s.out for s in samples]]
    return [torch.cat([out.flatten(0, 1) for out in parts]) for parts in outs]


def real(seen: Seen, situation: Situation) -> Tensor:
    """Return which tokens of a layer are real: all of an encoder that stands beside the padded tokens."""
    if seen.out.shape[1] != T:
        return torch.ones(seen.out.shape[:2], dtype=torch.bool)
    return situation.keep


def in_steps(model: Any, situation: Situation, static: bool) -> Tensor:
    """Return the output (B, T, E) where some tokens are given at once, and others by themselves."""
    given = models.inputs(model, situation, torch.float32)
    outs, start, cache = [], 0, _cache(model, static)
    with torch.no_grad():
        if "input_features" in given:
            given["encoder_outputs"] = model.encoder(given.pop("input_features"))
        for end in STEPS:
            step = {name: _part(name, value, start, end) for name, value in given.items()}
            outs.append(model(**step, past_key_values=cache, use_cache=True).last_hidden_state)
            start = end
    return torch.cat(outs, dim=1)


def _part(name: str, value: Any, start: int, end: int) -> Any:
    """Return what a step is given of an argument: of masks all that came so far."""
    if value is None or name == "encoder_outputs":
        return value
    return value[:, :end] if name.endswith("attention_mask") else value[:, start:end]


def _cache(model: Any, static: bool) -> Any:
    from transformers import DynamicCache, EncoderDecoderCache, StaticCache

    def new(length: int) -> Any:
        return StaticCache(config=model.config, max_cache_len=length) if static else DynamicCache(config=model.config)

    if not model.config.is_encoder_decoder:
        return new(T)
    return EncoderDecoderCache(new(T), new(model.config.max_source_positions))
