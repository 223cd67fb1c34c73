"""Norms, feed-forward networks and layers in declared conventions."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward, Weights
from attnconf.conformance.engine.translations import Choice
from attnconf.conformance.engine.translations.attention import neighbouring

# The two first layers of a gated network, of which glu-activated names one.
OTHER_LAYER = {"up.weight": "gate.weight", "up.bias": "gate.bias", "gate.weight": "up.weight", "gate.bias": "up.bias"}


def divisor(choice: Choice) -> dict[str, Any]:
    """Return the entries of a configuration that say what the deviations of layer norms are divided by."""
    return {"norm_variance": choice("layer-norm-variance"), "norm_eps": choice("layer-norm-eps")}


def divisors(choice: Choice) -> dict[str, Any]:
    """Return the entries of a layer's configuration that say what its norms divide by, of either kind."""
    return {**divisor(choice), "rms_eps": choice("rms-norm-eps")}


def rotation(choice: Choice) -> dict[str, Any]:
    """Return the entry of a layer's configuration that says that queries and keys are turned; none where they stay."""
    return {} if choice("rotary-inside") == "none" else {"rotary": True}


def placement(config: Any, order: str) -> dict[str, Any]:
    """Return the entries of a layer's configuration that say where its norms stand; none where it may say so itself."""
    if order in ("both", "any"):
        return {}
    other = {} if not hasattr(config, "placement") else {"placement": None if order in ("post", "pre") else order}
    return {"norm_first": order == "pre", **other}


def eps_in_code(choice: str, dtype: torch.dtype) -> float:
    """Return the ε that a declared choice of ``eps`` stands for: a number, or that of the dtype of the computation."""
    return torch.finfo(torch.promote_types(dtype, torch.float32)).eps if choice == "dtype" else float(choice)


def one_more(weight: Tensor) -> Tensor:
    """Return 1 + weight, in float32 where the weight is in half precision."""
    return 1 + weight.to(torch.promote_types(weight.dtype, torch.float32))


def layer_norm(build: Build, choice: Choice) -> Build:
    """Translate a layer norm: its weight, its variance, and where its ε stands."""

    def component(config: Any, weights: Any) -> Forward:
        if choice("layer-norm-weight") == "one-plus" and "weight" in weights:
            weights = {**weights, "weight": one_more(weights["weight"])}
        return build(replace(config, **divisor(choice)), weights)

    return component


def rms_norm(build: Build, choice: Choice) -> Build:
    """Translate an RMS norm: its weight, when it casts, and where its ε stands."""
    one_plus, first = choice("rms-norm-weight") == "one-plus", choice("rms-norm-cast") == "before"

    def component(config: Any, weights: Any) -> Forward:
        weight, config = weights["weight"], replace(config, rms_eps=choice("rms-norm-eps"))
        gain = one_more(weight) if one_plus else weight
        if not (first and weight.dtype in (torch.bfloat16, torch.float16)):
            return build(config, {"weight": gain})
        forward = build(config, {"weight": torch.ones_like(weight)})
        return lambda x: (forward(x) * gain).to(x.dtype)

    return component


def feed_forward(build: Build, choice: Choice) -> Build:
    """Translate a gated network: which of its two first layers is activated."""

    def component(config: Any, weights: Any) -> Forward:
        if choice("glu-activated") == "up" and config.gated:
            weights = {OTHER_LAYER.get(name, name): w for name, w in weights.items()}
        return build(config, weights)

    return component


def one_plus_here(part: str, kind: str, config: Any, qk_norm: str) -> bool:
    """Return whether a weight is the gain of an RMS norm: of a layer's own norms, or of queries and keys."""
    own = config.norm == "rms" and part.startswith("norm")
    return kind == "weight" and (own or (qk_norm == "rms" and part in ("q_norm", "k_norm")))


def head_width(weights: Weights, config: Any) -> int:
    """Return how wide a head is: as the projection of queries makes it, which need not be its share of the model."""
    rows = (len(w) for name, w in weights.items() if f".{name}".endswith(".q.weight"))
    return int(next(rows, config.embed_dim) // config.num_heads)


def layer_weights(weights: Weights, config: Any, choice: Choice) -> dict[str, Tensor]:
    """Translate the weights of layers in the declared conventions into weights for the reference's layers."""
    width = head_width(weights, config)
    unscaled = choice("attention-scale") == "none" and getattr(config, "score_scale", None) is None
    query = math.sqrt(width) if unscaled else 1.0
    qk_norm = getattr(config, "qk_norm", "none")
    scaled = "q" if qk_norm == "none" else "q_norm"  # which a norm would undo of its projection
    halves = hasattr(config, "rotary") and choice("rotary-inside") == "half"
    swapped = {"up": "gate", "gate": "up"} if choice("glu-activated") == "up" and config.gated else {}
    translated = {}
    for name, weight in weights.items():
        *above, part, kind = name.split(".")
        if part in ("q", "k", "q_norm", "k_norm") and halves:
            weight = neighbouring(weight, width, config.rotary_dim)
        if one_plus_here(part, kind, config, qk_norm) and choice("rms-norm-weight") == "one-plus":
            weight = one_more(weight)
        if part == scaled:
            weight = query * weight
        translated[".".join([*above, swapped.get(part, part), kind])] = weight
    return translated


def layer(build: Build, choice: Choice) -> Build:
    """Translate layers and stacks: the place of their norms, what these divide by, rotation, and their weights."""

    def component(config: Any, weights: Any) -> Forward:
        turned = rotation(choice) if hasattr(config, "rotary") else {}
        orders = placement(config, choice("norm-order"))
        config = replace(config, **orders, **divisors(choice), **turned)
        return build(config, layer_weights(weights, config, choice))

    return component
