"""A multi-head attention layer as data: configuration, weights and inputs, drawn from a case, changed, and run."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.chapters.shared.in_torch import called_with
from attnconf.conformance.chapters.shared.layers import not_projecting
from attnconf.conformance.engine.case import REGIMES, Case, Shape
from attnconf.conformance.engine.member_lens import entries, is_member
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.subject import Subject

# -- the cases

SHAPE = Shape(
    "B H L E S",
    "query({B}, {L}, {embed}) key({B}, {S}, {key_dim}) value({B}, {S}, {value_dim}), {H} heads of {E}",
    products={"embed": "H E", "key_dim": "H E", "value_dim": "H E"},
    heads="H",
    head="E",
    model="embed",
)


# layers with projections: the model is as wide as its heads, as most implementations want it, and all widths equal,
# so that an input or a weight in the wrong place is wrong instead of refused
LAYERS = (
    SHAPE.case("layer-1", B=2, H=3, L=4, E=7, S=5),
    SHAPE.case("layer-2", B=3, H=2, L=6, E=5, S=4),
)
LAYER = LAYERS[:1]
WIDTHS = (SHAPE.case("widths-1", B=2, H=3, L=4, E=7, S=5, key_dim=13, value_dim=26),)
ONE_HEAD = (SHAPE.case("one-head-1", B=2, H=1, L=4, E=7, S=5),)
ONE_SAMPLE = (SHAPE.case("one-sample-1", B=1, H=3, L=4, E=7, S=5),)
MANY_HEADS = (SHAPE.case("many-heads-1", B=2, H=16, L=4, E=3, S=5),)
# an even number of heads and more than one sample, or PyTorch's fast path is not taken
SELF = (SHAPE.case("self-1", B=3, H=4, L=5, E=7, S=5),)
REALISTIC = (
    SHAPE.case("realistic-1", B=2, H=4, L=33, E=16, S=47),
    SHAPE.case("realistic-2", B=2, H=4, L=33, E=16, S=47, key_dim=40, value_dim=56, bias=False),
)


BIAS = 0.5  # standard deviation of a bias, where that of a projected feature is 1


BIASES = ("q.bias", "k.bias", "v.bias", "out.bias")


def as_the_query(call: Call) -> tuple[int, ...]:
    """Return the shape of the output, (B, L, O)."""
    return (*call.inputs["query"].shape[:2], call.config.out_dim)


def without_bias(layer: Call) -> Call:
    """Return the layer built with bias=False."""
    kept = {name: w for name, w in layer.weights.items() if name not in BIASES}
    return replace(layer, weights=kept).with_config(bias=False)


def draw_layer(case: Case) -> Call:
    """Return a layer whose projected features have variance about 1, so that the scores vary as the regime says."""
    width = case.H * case.E
    embed, key, value = case.embed, case.key_dim, case.value_dim
    config = MultiHeadAttentionConfig(embed, case.H, case.E, key, value, embed, case.bias)
    weights = {}
    for name, rows, columns in (("q", width, embed), ("k", width, key), ("v", width, value), ("out", embed, width)):
        size = REGIMES[case.regime] if name == "q" else 1.0
        weights[f"{name}.weight"] = case.draw(f"{name}.weight", rows, columns) * (size / math.sqrt(columns))
        if case.bias and name[0] in case.biases:
            weights[f"{name}.bias"] = case.draw(f"{name}.bias", rows) * BIAS
    if not case.projects:
        weights |= not_projecting(weights, "out")
    inputs = {
        "query": case.draw("query", case.B, case.L, embed),
        "key": case.draw("key", case.B, case.S, key),
        "value": case.draw("value", case.B, case.S, value),
    }
    return Call("multi_head_attention", config, weights, inputs, (), shape_of=as_the_query).shaped()


def draw_self(case: Case) -> Call:
    """Return a layer whose query is its key and value as well, the same object."""
    layer = draw_layer(case.but(key_dim=case.embed, value_dim=case.embed))
    return replace(layer, inputs={"query": layer.inputs["query"]})


def layer_for(subject: Subject, case: Case) -> Call:
    """Return a layer for a check that needs no cross-attention: of one sequence, where the lens has no more."""
    layer = draw_layer(case) if subject.offers("cross") else draw_self(case)
    return as_declared(subject, layer, case)


def as_declared(subject: Subject, layer: Call, case: Case) -> Call:
    """Return the layer with what the subject always has: causality, and what is inside of a member of the family."""
    causal = layer.with_config(causal=True) if subject.declares.get("causality") == "always" else layer
    return with_inside(causal, case, entries(subject.declares)) if is_member(subject.declares) else causal


def with_inside(layer: Call, case: Case, inside: Mapping[str, str]) -> Call:
    """Return the layer with what a member of the family has inside: entries of the configuration, and weights."""
    config = layer.config
    width, heads = config.num_heads * config.head_dim, config.num_heads
    kept = heads if config.num_kv_heads is None else config.num_kv_heads
    weights = {}
    for name, rows in (("q_norm", width), ("k_norm", kept * config.head_dim)):
        size = rows if inside["qk_norm_over"] == "width" else config.head_dim
        if inside["qk_norm"] != "none":
            weights[f"{name}.weight"] = 1 + case.draw(f"{name}.weight", size) / 3
        if inside["qk_norm"] == "layer":
            weights[f"{name}.bias"] = case.draw(f"{name}.bias", size) / 3
    if inside["positions"] == "relative-bias":
        weights["relative.weight"] = case.draw("relative.weight", 32, heads)
    if inside["positions"] == "shaw":
        tables = ("keys", "values") if inside["relative_values"] == "yes" else ("keys",)
        names = [f"relative_{name}.weight" for name in tables]
        weights |= {name: case.draw(name, 2 * config.max_offset + 1, config.head_dim) for name in names}
    if inside["sinks"] == "learned":
        weights["sinks"] = case.draw("sinks", heads)
    if inside["gate"] != "none":
        rows = width if inside["gate"] == "features" else heads
        weights["gate.weight"] = case.draw("gate.weight", rows, config.embed_dim) / math.sqrt(config.embed_dim)
    return replace(layer, weights={**layer.weights, **weights}).with_config(**inside)


def own_weights(subject: Subject, layer: Call, case: Case) -> dict[str, Tensor]:
    """Return the weights that the subject has: all, or without those of an output projection."""
    projects = case.projects and subject.offers("output-projection")
    return {n: w for n, w in layer.weights.items() if n[0] != "o" or projects}


def run(subject: Subject, layer: Call, *, need_weights: bool = False, **options: Any) -> Reply:
    """Return the subject's reply. Options (mode, cotangent, wrt, before) as in Request.

    Raises Failure or Unsupported.
    """
    query = layer.inputs["query"]
    B, L = query.shape[:2]
    S = layer.inputs.get("key", query).shape[1]
    averaged = (B, L, S) if subject.declares.get("returned-weights") == "averaged" else None
    rows = (B, layer.config.num_heads, L, S) if need_weights else None
    return subject.call(layer.asked(weights_shape=rows, averaged_shape=averaged, **options))


def in_torch(layer: Call) -> tuple[nn.MultiheadAttention, dict[str, Tensor]]:
    """Return torch's own layer for this configuration, and its weights by its names."""
    c, w = layer.config, layer.weights
    options = {"bias": c.bias, "kdim": c.key_dim, "vdim": c.value_dim, "batch_first": True}
    module = nn.MultiheadAttention(c.embed_dim, c.num_heads, dtype=w["q.weight"].dtype, **options)
    module.train(c.training)
    state = {"out_proj.weight": w["out.weight"]}
    if c.key_dim == c.value_dim == c.embed_dim:
        state["in_proj_weight"] = torch.cat([w["q.weight"], w["k.weight"], w["v.weight"]])
    else:
        state |= {f"{name}_proj_weight": w[f"{name}.weight"] for name in "qkv"}
    if c.bias:
        zeros = w["q.weight"].new_zeros
        state["in_proj_bias"] = torch.cat([w.get(f"{name}.bias", zeros(len(w[f"{name}.weight"]))) for name in "qkv"])
        state["out_proj.bias"] = w.get("out.bias", zeros(c.out_dim))
    return module, state


def run_in_torch(layer: Call) -> tuple[Tensor, Tensor]:
    """Return (out, weights (B, H, L, S)) of torch's own layer, differentiable.

    torch's boolean masks are True where a key is hidden, ours where it may be seen.
    """
    module, state = in_torch(layer)
    query = layer.inputs["query"]
    key, value = layer.inputs.get("key", query), layer.inputs.get("value", query)
    (B, L), S = query.shape[:2], key.shape[1]
    seen = torch.ones(B, layer.config.num_heads, L, S, dtype=torch.bool, device=query.device)
    if "key_mask" in layer.inputs:  # not as key_padding_mask: torch imports 500 modules (0.35 s) to look at one
        seen = seen & layer.inputs["key_mask"][:, None, None, :]
    if "attn_mask" in layer.inputs:
        seen = seen & layer.inputs["attn_mask"]
    asked = {"attn_mask": ~seen.flatten(0, 1), "need_weights": True, "average_attn_weights": False}
    out, weights = called_with(module, state, (query, key, value), asked)
    return out, weights
