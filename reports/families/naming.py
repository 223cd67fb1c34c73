"""From a family's parameters to the weights of spec/attention_family.md: names and layouts, and nothing else."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

Weights = dict[str, Tensor]
SPELLINGS = {
    "q": ("q_proj", "query"), "k": ("k_proj", "key"), "v": ("v_proj", "value"),
    "out": ("o_proj", "out_proj", "dense"),
}  # fmt: skip


def apart(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return what has a projection for each of query, key, value and output."""
    return {
        f"{name}.{kind}": given[f"{spelling}.{kind}"]
        for name, spellings in SPELLINGS.items()
        for spelling in spellings
        for kind in ("weight", "bias")
        if f"{spelling}.{kind}" in given
    }


def with_gains(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return ``apart``, and the gains of queries and keys."""
    return apart(given, config) | {name: given[name] for name in ("q_norm.weight", "k_norm.weight")}


def with_gains_beside_one(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return ``apart``, and gains that are kept as what is added to 1."""
    return apart(given, config) | {name: 1 + given[name] for name in ("q_norm.weight", "k_norm.weight")}


def with_sinks(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return ``apart``, and the sinks."""
    return apart(given, config) | {"sinks": given["sinks"]}


def without_output(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return ``apart`` of what has no projection of the output."""
    value = given["value.weight"]
    return apart(given, config) | {"out.weight": torch.eye(value.shape[0], dtype=value.dtype)}


def stacked(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return the parts of one projection that has all queries first, then all keys, then all values."""
    queries = config.hidden_size
    keys = queries // config.num_attention_heads * config.num_key_value_heads
    parts = given["qkv_proj.weight"].split((queries, keys, keys))
    return apart(given, config) | dict(zip(("q.weight", "k.weight", "v.weight"), parts, strict=True))


def by_heads(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return the parts of one projection that has query, key and value of a head side by side."""
    found = apart(given, config)
    for kind in ("weight", "bias"):
        rows = given[f"query_key_value.{kind}"].unflatten(0, (config.num_attention_heads, 3, -1))
        found |= {f"{name}.{kind}": rows[:, n].flatten(0, 1) for n, name in enumerate("qkv")}
    return found


def one_head_of_keys(given: Mapping[str, Tensor], config: Any) -> Weights:
    """Return the parts of one projection that has all queries, and then one head of keys and one of values."""
    found = apart(given, config)
    for kind in ("weight", "bias"):
        rows = given[f"query_key_value.{kind}"].unflatten(0, (config.num_attention_heads + 2, -1))
        parts = {"q": rows[:-2].flatten(0, 1), "k": rows[-2], "v": rows[-1]}
        found |= {f"{name}.{kind}": part for name, part in parts.items()}
    return found


def neighbours(weights: Weights, head_dim: int, width: int) -> Weights:
    """Return weights of pairs (x_i, x_i+R/2) with the features of queries and keys in the order of neighbours.

    The scores are the same, as both change their order alike; R is ``width``.
    """
    order = torch.cat([torch.arange(width).unflatten(0, (2, -1)).T.flatten(), torch.arange(width, head_dim)])
    mine = {name: w for name, w in weights.items() if name.partition(".")[0] in ("q", "k", "q_norm", "k_norm")}
    return weights | {
        name: w.unflatten(0, (-1, head_dim))[:, order.to(w.device)].flatten(0, 1) for name, w in mine.items()
    }
