"""The cases and calls of the chapter spec/attention_family.md: layers whose heads of keys and values are shared."""

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for
from attnconf.conformance.engine.case import Case, Shape
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape(
    "B K G L E S",
    "query({B}, {L}, {embed}) key({B}, {S}, {key_dim}) value({B}, {S}, {value_dim}), {H} heads of {E} that share {K}",
    products={"H": "K G", "embed": "K G E", "key_dim": "K G E", "value_dim": "K G E"},
    shared="K",
    head="E",
    model="embed",
)


# H is K·G: neither K nor G is 1 in the first, so that shared heads side by side are not those in turn
GROUPED = (
    SHAPE.case("grouped-1", B=5, K=2, G=3, L=4, E=8, S=7),
    SHAPE.case("grouped-2", B=8, K=3, G=2, L=5, E=4, S=7),
)
ONE_SHARED = (SHAPE.case("one-shared-1", B=2, K=1, G=4, L=5, E=3, S=6),)
GROUPED_ONCE = GROUPED[:1]


# -- calls


def grouped(subject: Subject, case: Case) -> Call:
    """Return a layer whose keys and values have K heads for H = K·G heads of queries."""
    layer = layer_for(subject, case)
    return shared(layer, case)


def shared(layer: Call, case: Case) -> Call:
    """Return the layer with the first K heads of keys and values only."""
    first = slice(case.K * case.E)
    fewer = {name: w[first] for name, w in rows_of(layer, "kv").items()}
    return layer.with_weights(fewer).with_config(num_kv_heads=case.K)


def rows_of(layer: Call, names: str) -> dict[str, Tensor]:
    """Return the weights that have a row for each feature of the projected keys, or values: those of wide norms too."""
    wide = layer.config.qk_norm_over == "width"
    found = [f"{name}." for name in names] + (["k_norm."] if wide and "k" in names else [])
    return {name: w for name, w in layer.weights.items() if name.startswith(tuple(found))}


def repeated(layer: Call) -> Call:
    """Return the same layer with a head of keys and values for each head of queries, copies side by side."""
    heads, kept = layer.config.num_heads, layer.config.num_kv_heads
    many = {name: copies(w, kept, heads // kept) for name, w in rows_of(layer, "kv").items()}
    return layer.with_weights(many).with_config(num_kv_heads=None)


def copies(rows: Tensor, heads: int, times: int) -> Tensor:
    """Return rows (heads·D, …) with each head's rows so many times, side by side."""
    return rows.unflatten(0, (heads, -1)).repeat_interleave(times, dim=0).flatten(0, 1)


def alike(layer: Call, names: str) -> Call:
    """Return the layer with the first head of the named projections in the place of all: it matters not which is read.

    names  "k" or "v"
    """
    heads = layer.config.num_kv_heads
    same = {
        name: w.unflatten(0, (heads, -1))[:1].expand(heads, *[-1] * w.ndim).flatten(0, 1)
        for name, w in rows_of(layer, names).items()
    }
    return layer.with_weights(same)


def summed(gradient: Tensor, heads: int, times: int) -> Tensor:
    """Return the gradient of shared rows from those of their copies: their sum."""
    return torch.stack(list(gradient.unflatten(0, (heads, times, -1)).unbind(1))).sum(0).flatten(0, 1)
