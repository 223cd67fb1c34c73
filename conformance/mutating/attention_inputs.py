"""Settings of attention, of attention with positions, and of layers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters import contract
from attnconf.conformance.chapters.transformer.stimuli import SHAPE
from attnconf.conformance.engine.translate import choices_of
from attnconf.conformance.inference.texts import layer_requests
from attnconf.conformance.mutating.drawing import Calling, Numbers, Setting, words_of

# -- attention


def attention() -> Iterator[Setting]:
    for i, (B, H, L, S, E) in enumerate(((3, 2, 8, 9, 6), (2, 4, 9, 9, 3))):
        draw = Numbers(i)
        q, k, v = draw(B, H, L, E, size=1.7), draw(B, H, S, E), draw(B, H, S, E)
        wide = draw(B, H, S, E + 2)
        base = contract.AttentionConfig()
        for config in (base, replace(base, causal=True), replace(base, scale=0.3),
                       replace(base, dropout=0.4, training=True)):  # fmt: skip
            calls = _masked(draw, (q, k, v), (B, H, L, S))
            yield Setting(words_of(config), config, {}, (*calls, Calling("values of another width", (q, k, wide), {})))


def _masked(draw: Numbers, qkv: tuple[Tensor, ...], sizes: tuple[int, int, int, int]) -> tuple[Calling, ...]:
    """Return calls with the masks of the contract, one kind at a time and two together."""
    B, H, L, S = sizes
    lengths = torch.arange(S) < torch.arange(S - B, S)[:, None] + 1
    holes, rows, heads = draw.kept(B, S), draw.kept(L, S), draw.kept(B, H, L, S)
    empty = holes.clone()
    empty[-1] = False
    how: dict[str, dict[str, Any]] = {
        "no mask": {},
        "a padding mask": {"key_mask": lengths},
        "a mask of keys with holes": {"key_mask": holes},
        "a sample without keys": {"key_mask": empty},
        "a mask (L, S)": {"attn_mask": rows},
        "a mask (B, 1, L, S)": {"attn_mask": heads[:, :1]},
        "a mask (B, H, L, S)": {"attn_mask": heads},
        "two masks": {"attn_mask": heads[:, :1], "key_mask": lengths},
        "a bias": {"attn_bias": draw(B, H, L, S)},
        "returned weights": {"need_weights": True},
        "a mask, returned weights": {"attn_mask": heads[:, :1], "need_weights": True},
    }
    return tuple(Calling(words, qkv, keywords) for words, keywords in how.items())


def multi_head() -> Iterator[Setting]:
    for i, (B, H, L, S, D) in enumerate(((3, 2, 8, 9, 5), (2, 4, 6, 6, 3), (1, 3, 1, 5, 4))):
        draw, E = Numbers(10 + i), H * D
        base = contract.MultiHeadAttentionConfig(E, H, D, E, E, E)
        weights = _projections(draw, E)
        plain = {name: w for name, w in weights.items() if name.endswith("weight")}
        x, memory, value = draw(B, L, E, size=1.5), draw(B, S, E), draw(B, S, E)
        for more in ({}, {"causal": True}, {"bias": False}, {"causal": True, "bias": False},
                     {"dropout": 0.4, "training": True}):  # fmt: skip
            config = replace(base, **more)
            calls: list[Calling] = []
            for kind, given, keys in (("self", (x, x, x), L), ("memory", (x, memory, memory), S),
                                      ("three inputs", (x, memory, value), S)):  # fmt: skip
                calls += [replace(c, words=f"{kind}, {c.words}") for c in _masked(draw, given, (B, H, L, keys))]
            yield Setting(words_of(config), config, weights if config.bias else plain, tuple(calls))
            lacking = {name: w for name, w in weights.items() if name != "out.bias"}
            yield Setting(f"{words_of(config)} without output bias", config, lacking, tuple(calls[:2]))


def _projections(draw: Numbers, width: int) -> dict[str, Tensor]:
    sizes = {"q": 1.5, "k": 1.0, "v": 1.0, "out": 1.0}
    found = {f"{name}.weight": draw(width, width, size=size * width**-0.5) for name, size in sizes.items()}
    return found | {f"{name}.bias": draw(width, size=0.5) for name in sizes}


FAR = 150  # tokens


def placed(config: type, **more: Any) -> Callable[[], Iterator[Setting]]:
    """Return the maker of settings of attention with positions."""

    def made() -> Iterator[Setting]:
        for i, (B, H, L, D) in enumerate(((2, 4, 7, 6), (3, 8, 9, 10), (1, 6, 5, 8))):
            draw = Numbers(20 + i)
            q, k, v = draw(B, H, L, D), draw(B, H, L, D), draw(B, H, L, D)
            later = torch.arange(L) * 2 + 3
            calls = [Calling("three inputs", (q, k, v), {}), Calling("self", (q, q, q), {}),
                     Calling("positions", (q, k, v), {"positions": later})]  # fmt: skip
            if i == 0:  # distances of which several have one bias
                calls += [Calling("many tokens", (draw(1, H, FAR, D),) * 3, {})]
            weights = {"table.weight": draw(32, H)} if config is contract.RelativeBiasAttentionConfig else {}
            for causal in (True, False):
                one = config(H, D, causal=causal, **more)
                yield Setting(words_of(one), one, weights, tuple(calls))

    return made


# -- layers


def layers(component: str, declares: Mapping[str, Any]) -> Iterator[Setting]:
    """Yield layers or models in declared conventions; weights in other sizes, drawn anew."""
    told = {name: choice for name, choice in declares.items() if isinstance(choice, str)}
    known = contract.COMPONENTS[component]
    for i, (heads, width, hidden) in enumerate(((3, 6, 13), (4, 4, 10))):
        case = SHAPE.case(f"mutating-{i}", B=3 - i, heads=heads, L=6 + i, S=9 - i, head_width=width, hidden=hidden)
        for order in [choice for choice in choices_of(component, "norm-order") if choice != "both"]:
            for layers in ((2, 2), (1, 3)) if known.stacked else ((1, 1),):
                made = layer_requests.request(component, {**told, "norm-order": order}, case, layers)
                draw = Numbers(90 + i)
                weights = {name: _anew(draw, w) for name, w in made.weights.items()}
                inputs = {n: x if x.dtype == torch.int64 else _anew(draw, x) for n, x in made.inputs.items()}
                calls = tuple(_layer_calls(component, case, [inputs[name] for name in known.inputs]))
                for more in _layer_options(made.config):
                    yield Setting(words_of(more), more, weights, calls)


def _layer_options(config: Any) -> list[Any]:
    found = [config]
    found += [replace(config, causal=not config.causal)] if hasattr(config, "causal") else []
    return found + ([replace(config, dropout=0.4, training=True)] if hasattr(config, "dropout") else [])


def _layer_calls(component: str, case: Any, inputs: list[Tensor]) -> Iterator[Calling]:
    yield Calling("no mask", tuple(inputs), {})
    for which in contract.COMPONENTS[component].attends:
        for general in (False, True):
            keyword = contract.COMPONENTS[component].attends[which][2]
            if general and "attn_mask" not in contract.COMPONENTS[component].keywords:
                continue
            for shared in (False, True) if general else (False,):
                mask = layer_requests.mask(component, which, case, general, shared, first_ones=not general)
                yield Calling(f"a mask of {which} ({'general' if general else keyword})", tuple(inputs), mask)


def _anew(draw: Numbers, like: Tensor) -> Tensor:
    """Return numbers of the same shape, size and mean."""
    return like.mean().round() + draw(*like.shape) * like.std(correction=0).clamp_min(0.1)
