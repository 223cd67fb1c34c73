"""Translate the reference, or a mutant, into the conventions that an implementation declares.

The reference and its mutants keep the first choice of each convention in contract.CONVENTIONS. To compare their numbers
with those of an implementation, inputs are translated on the way in and outputs on the way out. Example: with
``rope-pairing`` "half" declared, the features of x are reordered into pairs, and the output's back into halves.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS, Build, Forward, Weights
from attnconf.conformance.engine.request import Implementation

Choice = Callable[[str], str]
END = "</w>"
FACTORS = {"1": 1.0, "pi": math.pi, "2pi": 2 * math.pi}  # of fourier-factor
# The two first layers of a gated network, of which glu-activated names one.
OTHER_LAYER = {"up.weight": "gate.weight", "up.bias": "gate.bias", "gate.weight": "up.weight", "gate.bias": "up.bias"}


def in_conventions(implementation: Implementation, declares: Mapping[str, str]) -> Implementation:
    """Return an implementation that keeps the declared conventions, from one that keeps the reference's."""

    def choice(convention: str) -> str:
        return declares.get(convention, CONVENTIONS[convention][0])

    components = dict(implementation.components)
    for name, translate in _TRANSLATED.items():
        if name in components and any(choice(c) != CONVENTIONS[c][0] for c in translated(name)):
            components[name] = translate(components[name], choice)
    if choice("mask-arguments") == "one":
        components |= {name: _one_mask(components[name], choice) for name in _MASKED if name in components}
    return replace(implementation, components=components, declares={**implementation.declares, **declares})


_MASKED = ("attention", "multi_head_attention")
# The conventions that change a component's numbers; the functions below translate them.
_OF_NUMBERS = frozenset(
    {
        "sinusoidal-output", "sinusoidal-layout", "sinusoidal-frequencies", "sinusoidal-offset", "grid-axes",
        "grid-layout", "learned-output", "learned-offset", "rope-pairing", "t5-scale", "fourier-factor",
        "fourier-input", "fourier-order", "random-fourier-order", "rms-norm-weight", "rms-norm-cast", "word-end",
        "norm-order", "attention-scale", "glu-activated", "embedding-scale", "padding-row", "transformer-scale",
    }
)  # fmt: skip


def translated(component: str) -> tuple[str, ...]:
    """Return the conventions of a component into which the reference is translated."""
    known = COMPONENTS[component].conventions if component in _TRANSLATED else ()
    return tuple(name for name in known if name in _OF_NUMBERS)


def telling(component: str, declares: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the declared (convention, choice) pairs that change the component's numbers."""
    names = (*translated(component), *(("masks", "mask-arguments") if component in _MASKED else ()))
    return frozenset((name, choice) for name, choice in declares.items() if name in names)


def _one_mask(build: Build, choice: Choice) -> Build:
    """Return a component that is handed one mask: of keys where "masks" is "keys", else of queries and keys."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)

        def translated(query: Tensor, key: Tensor, value: Tensor, **given: Any) -> Any:
            B, H = len(query), getattr(config, "num_heads", query.shape[1])
            L, S = query.shape[-2], key.shape[-2]
            padding, mask = given.get("key_mask"), given.get("attn_mask")
            if choice("masks") != "keys" and padding is not None:
                padding = padding[:, None, None, :].expand(B, H, L, S)
                given |= {"key_mask": None, "attn_mask": padding if mask is None else padding & mask}
            elif choice("masks") == "keys" and mask is not None:
                keys = mask.expand(B, H, L, S)[:, 0, 0]
                given |= {"key_mask": keys if padding is None else padding & keys, "attn_mask": None}
            elif mask is not None:
                given["attn_mask"] = mask.expand(B, H, L, S)
            return forward(query, key, value, **given)

        return translated

    return component


def others_than(component: str, declares: Mapping[str, str]) -> list[dict[str, str]]:
    """Return every other combination of conventions, smallest first.

    A combination is a dict of the choices that differ from the declared (or default) ones.
    """
    names = translated(component)
    sets = (dict(zip(names, choices, strict=True)) for choices in product(*(CONVENTIONS[name] for name in names)))
    now = {name: declares.get(name, CONVENTIONS[name][0]) for name in names}
    differences = ({name: choice for name, choice in each.items() if choice != now[name]} for each in sets)
    return sorted((d for d in differences if d), key=len)


def side_by_side(layout: str, width: int) -> list[int]:
    """Return the interleaved feature at each place of another layout: "halves", width 4 -> [0, 2, 1, 3]."""
    first, second = list(range(0, width, 2)), list(range(1, width, 2))
    if layout == "interleaved":
        return list(range(width))
    return [*second, *first] if layout == "halves-cos-first" else [*first, *second]


def _back(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def _sinusoidal(build: Build, choice: Choice) -> Build:
    first, output = int(choice("sinusoidal-offset")), choice("sinusoidal-output")

    def component(config: Any, weights: Any) -> Forward:
        forward = build(_with_frequencies(config, config.dim, choice), weights)
        there = side_by_side(choice("sinusoidal-layout"), config.dim)
        scale = {"add": 1.0, "table": 0.0, "scaled-add": math.sqrt(config.dim)}[output]

        def translated(x: Tensor, *, positions: Tensor | None = None) -> Any:
            if first:
                positions = (torch.arange(x.shape[1], device=x.device) if positions is None else positions) + first
            given = {} if positions is None else {"positions": positions}
            return forward(scale * x[..., _back(there)], **given)[..., there]

        return translated

    return component


def _with_frequencies(config: Any, width: int, choice: Choice) -> Any:
    """Return the configuration with the base at which the paper's frequencies are the declared ones."""
    half = width // 2  # base^(-i/(half - 1)) is the paper's frequency for another base
    if choice("sinusoidal-frequencies") == "paper" or half < 2:
        return config
    return replace(config, base=config.base ** (half / (half - 1)))


def _sinusoidal_2d(build: Build, choice: Choice) -> Build:
    first = int(choice("sinusoidal-offset"))

    def component(config: Any, weights: Any) -> Forward:
        forward, half = build(_with_frequencies(config, config.dim // 2, choice), weights), config.dim // 2
        axis = list(range(half))
        if choice("grid-layout") == "interleaved":  # from all sines, then all cosines
            axis = _back(side_by_side("halves", half))
        there = [*axis, *(half + i for i in axis)]
        if choice("grid-axes") == "height-first":
            there = there[half:] + there[:half]

        def translated(height: int, width: int) -> Any:
            return forward(height + first, width + first)[first:, first:, there]

        return translated

    return component


def _learned(build: Build, choice: Choice) -> Build:
    first, scale = int(choice("learned-offset")), 1.0 if choice("learned-output") == "add" else 0.0

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, {"table.weight": weights["table.weight"][first:]})
        return lambda x, **given: forward(scale * x, **given)

    return component


def _rotary(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        turned = side_by_side("halves" if choice("rope-pairing") == "half" else "interleaved", config.rotary_dim)
        there = [*turned, *range(config.rotary_dim, config.head_dim)]
        return lambda x, **given: forward(x[..., _back(there)], **given)[..., there]

    return component


def _rotary_attention(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        back = _back(side_by_side("halves" if choice("rope-pairing") == "half" else "interleaved", config.head_dim))
        return lambda query, key, value, **given: forward(query[..., back], key[..., back], value, **given)

    return component


def _t5_attention(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        scale = 1.0 if choice("t5-scale") == "none" else config.head_dim**-0.5
        return lambda query, key, value: forward(scale * query, key, value)

    return component


def _fourier(build: Build, choice: Choice) -> Build:
    factor, kept, order = FACTORS[choice("fourier-factor")], choice("fourier-input") == "kept", choice("fourier-order")

    def component(config: Any, weights: Any) -> Forward:
        forward = build(replace(config, frequencies=tuple(factor * f for f in config.frequencies)), weights)

        def translated(x: Tensor) -> Any:
            features = forward(x).unflatten(-1, (config.in_dim, 2, -1))
            if order == "frequency":  # from (coordinate, sine or cosine, frequency)
                features = features.movedim(-1, -3).transpose(-1, -2)
            elif order == "function":
                features = features.transpose(-3, -2)
            features = features.flatten(-3)
            return torch.cat([x, features], dim=-1) if kept else features

        return translated

    return component


def _random_fourier(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        forward, shift = build(config, weights), config.num_features * (choice("random-fourier-order") == "sin-first")
        return lambda x: forward(x).roll(shift, dims=-1)

    return component


def _coordinate_mlp(build: Build, choice: Choice) -> Build:
    factor, kept, order = FACTORS[choice("fourier-factor")], choice("fourier-input") == "kept", choice("fourier-order")

    def component(config: Any, weights: Any) -> Forward:
        d, K = config.in_dim, len(config.frequencies)
        config = replace(config, frequencies=tuple(factor * f for f in config.frequencies))
        columns = torch.arange(2 * d * K)  # from where the declared order has them to (coordinate, function, frequency)
        if order == "frequency":
            columns = columns.unflatten(0, (K, 2, d)).permute(2, 1, 0).flatten()
        elif order == "function":
            columns = columns.unflatten(0, (2, d, K)).transpose(0, 1).flatten()
        first, bias = weights["0.weight"], weights["0.bias"]
        beside, features = first[:, : d * kept], first[:, d * kept :][:, columns]
        if not kept:
            return build(config, {**weights, "0.weight": features})

        def translated(x: Tensor) -> Any:  # coordinates that are kept add a bias for each point
            each = [{**weights, "0.weight": features, "0.bias": bias + beside @ point} for point in x]
            return torch.cat([build(config, w)(point[None]) for w, point in zip(each, x, strict=True)])

        return translated

    return component


def _rms_norm(build: Build, choice: Choice) -> Build:
    one_plus, first = choice("rms-norm-weight") == "one-plus", choice("rms-norm-cast") == "before"

    def component(config: Any, weights: Any) -> Forward:
        weight = weights["weight"]
        gain = 1 + weight.to(torch.promote_types(weight.dtype, torch.float32)) if one_plus else weight
        if not (first and weight.dtype in (torch.bfloat16, torch.float16)):
            return build(config, {"weight": gain})
        forward = build(config, {"weight": torch.ones_like(weight)})
        return lambda x: (forward(x) * gain).to(x.dtype)

    return component


def _bpe_trainer(build: Build, choice: Choice) -> Build:
    last = "\ue000" if choice("word-end") == "separate" else ""  # a private character

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)

        def translated(words: list[str]) -> Any:
            merges = forward([word + last for word in words if word])
            return [tuple(part.replace(last + END, END) for part in pair) for pair in merges]

        return translated

    return component


def _feed_forward(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        if choice("glu-activated") == "up" and config.gated:
            weights = {OTHER_LAYER.get(name, name): w for name, w in weights.items()}
        return build(config, weights)

    return component


def _token_embedding(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        scale = math.sqrt(config.dim) if choice("embedding-scale") == "sqrt" else 1.0

        def translated(ids: Tensor) -> Any:
            out = scale * forward(ids)
            if config.padding_id is not None and choice("padding-row") == "zeros":
                out = torch.where((ids == config.padding_id)[..., None], 0.0, out)
            return out

        return translated

    return component


def layer_weights(weights: Weights, config: Any, choice: Choice) -> dict[str, Tensor]:
    """Translate the weights of layers in the declared conventions into weights for the reference's layers."""
    width = config.embed_dim // config.num_heads
    query = math.sqrt(width) if choice("attention-scale") == "none" else 1.0
    one_plus = choice("rms-norm-weight") == "one-plus" and config.norm == "rms"
    swapped = {"up": "gate", "gate": "up"} if choice("glu-activated") == "up" and config.gated else {}
    translated = {}
    for name, weight in weights.items():
        *above, part, kind = name.split(".")
        if part == "q":
            weight = query * weight
        elif part.startswith("norm") and one_plus:
            weight = 1 + weight.to(torch.promote_types(weight.dtype, torch.float32))
        translated[".".join([*above, swapped.get(part, part), kind])] = weight
    return translated


def _layer(build: Build, choice: Choice) -> Build:
    orders = {"both": {}, "post": {"norm_first": False}, "pre": {"norm_first": True}}[choice("norm-order")]

    def component(config: Any, weights: Any) -> Forward:
        return build(replace(config, **orders), layer_weights(weights, config, choice))

    return component


def _token_attention(build: Build, choice: Choice) -> Build:
    def component(config: Any, weights: Any) -> Forward:
        back = _back(side_by_side(choice("sinusoidal-layout"), config.dim))
        scale = math.sqrt(config.dim) if choice("embedding-scale") == "sqrt" else 1.0
        reading = ("table.weight", "attn.q.weight", "attn.k.weight", "attn.v.weight")  # last axis: features
        other = {name: weights[name][:, back] for name in reading}
        return build(config, {**weights, **other, "table.weight": scale * other["table.weight"]})

    return component


def model_weights(weights: Weights, back: Sequence[int]) -> dict[str, Tensor]:
    """Return the weights of a model with its features in another order."""
    moved = {}
    for name, weight in weights.items():
        part, order = ".".join(name.split(".")[-2:]), list(back)
        if part in ("out.weight", "down.weight"):
            weight = weight[order]
        elif part not in ("q.bias", "k.bias", "v.bias", "up.bias", "gate.bias"):
            weight = weight[..., order]
        moved[name] = weight
    return moved


def _transformer(build: Build, choice: Choice) -> Build:
    layer = _layer(build, choice)

    def component(config: Any, weights: Any) -> Forward:
        weights = model_weights(weights, _back(side_by_side(choice("sinusoidal-layout"), config.embed_dim)))
        if choice("transformer-scale") == "none":
            target = weights["target.weight"]
            config = replace(config, tying="none")
            weights = {"head.weight": target, "source.weight": target, **weights}
            root = math.sqrt(config.embed_dim)
            weights |= {f"{name}.weight": weights[f"{name}.weight"] / root for name in ("source", "target")}
        return layer(config, weights)

    return component


_TRANSLATED: Mapping[str, Callable[[Build, Choice], Build]] = {
    "sinusoidal": _sinusoidal,
    "sinusoidal_2d": _sinusoidal_2d,
    "learned": _learned,
    "rotary": _rotary,
    "rotary_attention": _rotary_attention,
    "relative_bias_attention": _t5_attention,
    "fourier": _fourier,
    "coordinate_mlp": _coordinate_mlp,
    "random_fourier": _random_fourier,
    "rms_norm": _rms_norm,
    "bpe_trainer": _bpe_trainer,
    "encoder_layer": _layer,
    "encoder": _layer,
    "decoder_layer": _layer,
    "decoder": _layer,
    "feed_forward": _feed_forward,
    "token_embedding": _token_embedding,
    "token_attention": _token_attention,
    "encoder_decoder": _layer,
    "transformer": _transformer,
}
