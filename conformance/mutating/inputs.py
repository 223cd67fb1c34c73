"""What both sides are called with: sizes, masks and numbers that no check and no binding is tried on.

A setting is a configuration of the contract with weights, and the calls made of what is built for it. They are many on
purpose, in every option: those that the original refuses are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters import contract
from attnconf.conformance.mutating.attention_inputs import attention, layers, multi_head, placed
from attnconf.conformance.mutating.drawing import Calling, Numbers, Setting, words_of

MOST = 50  # tokens of a call that fills a table, if it is no longer
_DROPPED: dict[str, Any] = {"dropout": 0.4, "training": True}


def settings(component: str, declares: Mapping[str, Any]) -> list[Setting]:
    """Return all settings of a component; none for components of text."""
    made = _MAKERS.get(component)
    if made is not None:
        return list(made())
    return list(layers(component, declares)) if contract.COMPONENTS[component].attends else []


# -- positions


def _sequences(
    config: Callable[[int, Numbers], Iterator[tuple[Any, dict[str, Tensor]]]],
) -> Callable[[], Iterator[Setting]]:
    """Return the maker of settings of what takes (B, L, dim)."""

    def made() -> Iterator[Setting]:
        for i, (B, dim, lengths) in enumerate(((3, 14, (6, 11, 2)), (2, 18, (9, 1, 5)))):
            draw = Numbers(30 + i)
            calls = [Calling(f"{L} tokens", (draw(B, L, dim),), {}) for L in lengths]
            L = lengths[0]
            x = calls[0].args
            calls += [Calling("positions", x, {"positions": torch.arange(L) + 3})]
            calls += [Calling("positions by sample", x, {"positions": torch.arange(L) + torch.arange(B)[:, None]})]
            for one, weights in config(dim, draw):
                full = draw(B, min(one.max_len, MOST), dim)
                filling = Calling(f"{full.shape[1]} tokens", (full,), {})
                yield Setting(words_of(one), one, weights, (*calls, filling))

    return made


def _sinusoidal(dim: int, draw: Numbers) -> Iterator[tuple[Any, dict[str, Tensor]]]:
    options: tuple[dict[str, Any], ...] = ({}, {"base": 300.0}, {"max_len": 40}, _DROPPED)
    for more in options:
        yield contract.SinusoidalConfig(dim, dtype=torch.float64, **more), {}


def _learned(dim: int, draw: Numbers) -> Iterator[tuple[Any, dict[str, Tensor]]]:
    for offset in (0, 1, 2):
        for more in ({}, _DROPPED):
            yield contract.LearnedConfig(dim, 23, **more), {"table.weight": draw(23 + offset, dim)}


def _rotary() -> Iterator[Setting]:
    for i, (B, H, L, D, turned) in enumerate(((3, 2, 7, 10, 10), (2, 5, 9, 12, 12), (1, 3, 6, 8, 4))):
        draw = Numbers(40 + i)
        x = draw(B, H, L, D)
        calls = [Calling(f"{n} tokens", (x[:, :, :n],), {}) for n in (L, 2, 1)]
        calls += [Calling("positions", (x,), {"positions": torch.arange(L) * 3 + 2})]
        calls += [Calling("positions by sample", (x,), {"positions": torch.arange(L) + torch.arange(B)[:, None]})]
        options: tuple[dict[str, Any], ...] = (
            {}, {"base": 500.0}, {"max_len": 33}, {"scaling": (("kind", "linear"), ("factor", 3.0))})  # fmt: skip
        for more in options:
            config = contract.RotaryConfig(D, turned, dtype=torch.float64, **more)
            yield Setting(words_of(config), config, {}, tuple(calls))


def _between(config: type, table: bool) -> Callable[[], Iterator[Setting]]:
    """Return the maker of settings of biases of queries and keys."""

    def made() -> Iterator[Setting]:
        for heads in (3, 8, 12, 1):
            calls = tuple(Calling(f"{L} by {S}", (L, S), {}) for L, S in ((7, 7), (40, 40), (5, 9), (9, 5), (1, 6)))
            options = ({"causal": True}, {"causal": False}) if not table else (
                {}, {"bidirectional": False}, {"num_buckets": 12, "max_distance": 30})  # fmt: skip
            for more in options:
                one = config(heads, **more)
                weights = {"table.weight": Numbers(heads)(one.num_buckets, heads)} if table else {}
                yield Setting(words_of(one), one, weights, calls)

    return made


def _grid() -> Iterator[Setting]:
    calls = tuple(Calling(f"{h} by {w}", (h, w), {}) for h, w in ((3, 4), (5, 2), (1, 6), (4, 4)))
    for dim in (12, 20):
        for base in (10000.0, 200.0):
            config = contract.Sinusoidal2dConfig(dim, base, dtype=torch.float64)
            yield Setting(words_of(config), config, {}, calls)


# -- coordinates, norms, networks


def _fourier() -> Iterator[Setting]:
    for width in (2, 3, 1):
        draw = Numbers(50 + width)
        calls = (Calling("points", (draw(9, width),), {}), Calling("a batch", (draw(2, 4, width),), {}))
        for count in (3, 6):
            config = contract.FourierConfig(width, tuple(torch.pi * 2.0**k for k in range(count)), dtype=torch.float64)
            yield Setting(words_of(config), config, {}, calls)


def _random_fourier() -> Iterator[Setting]:
    for width, count in ((2, 7), (3, 4)):
        draw = Numbers(60 + width)
        config = contract.RandomFourierConfig(width, count)
        yield Setting(
            words_of(config), config, {"projection": draw(count, width)}, (Calling("points", (draw(9, width),), {}),)
        )


def _norms(rms: bool) -> Callable[[], Iterator[Setting]]:
    """Return the maker of settings of a norm, of numbers large and small, where ε shows."""

    def made() -> Iterator[Setting]:
        for i, shape in enumerate(((13,), (6,), (4, 7))):
            draw = Numbers(70 + i)
            calls = tuple(
                Calling(f"{lead} tokens, {words}", (draw(*lead, *shape, size=size) + shift,), {})
                for lead, size, shift, words in (
                    ((2, 5), 1.0, 0.5, "plain"), ((8,), 0.003, 0.0, "small"), ((3, 1, 2), 40.0, 7.0, "large"))
            )  # fmt: skip
            weights = {"weight": 1 + draw(*shape, size=0.4), "bias": draw(*shape)}
            for eps in (1e-5, 1e-6, 1e-12, 0.02):
                configs: list[Any] = [contract.RmsNormConfig(shape[0], eps)] if rms else [
                    contract.LayerNormConfig(shape, eps), contract.LayerNormConfig(shape, eps, True, False),
                    contract.LayerNormConfig(shape, eps, False, False)]  # fmt: skip
                for config in configs:
                    affine, bias = getattr(config, "affine", True), getattr(config, "bias", False)
                    has = ("weight",) * affine + ("bias",) * bias
                    yield Setting(words_of(config), config, {name: weights[name] for name in has}, calls)

    return made


def _feed_forward() -> Iterator[Setting]:
    draw, (B, L, E, hidden) = Numbers(80), (3, 6, 9, 14)
    weights = {
        "up.weight": draw(hidden, E, size=0.4), "gate.weight": draw(hidden, E, size=0.4),
        "down.weight": draw(E, hidden, size=0.4), "up.bias": draw(hidden, size=0.5),
        "gate.bias": draw(hidden, size=0.5), "down.bias": draw(E, size=0.5),
    }  # fmt: skip
    calls = (Calling("tokens", (draw(B, L, E),), {}), Calling("large", (draw(B, L, E, size=9.0),), {}))
    for activation in ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu", "sigmoid", "none"):
        for gated in (False, True):
            for bias in (True, False):
                for more in ({}, _DROPPED):
                    config = contract.FeedForwardConfig(E, hidden, activation, gated, bias, **more)
                    has = {n: w for n, w in weights.items() if (gated or n[0] != "g") and (bias or "bias" not in n)}
                    yield Setting(words_of(config), config, has, calls)


def _tokens() -> Iterator[Setting]:
    for rows, dim in ((13, 6), (9, 10)):
        draw = Numbers(rows)
        ids = draw.ids(rows, 3, 7)
        ids[0, 2] = 0
        for padding in (None, 0, 4):
            config = contract.TokenEmbeddingConfig(rows, dim, padding)
            calls = (Calling("ids", (ids,), {}), Calling("ids, none of the last rows", (ids.clamp(max=rows - 3),), {}))
            yield Setting(words_of(config), config, {"table.weight": draw(rows, dim)}, calls)


_MAKERS: dict[str, Callable[[], Iterator[Setting]]] = {
    "attention": attention,
    "multi_head_attention": multi_head,
    "sinusoidal": _sequences(_sinusoidal),
    "sinusoidal_2d": _grid,
    "learned": _sequences(_learned),
    "rotary": _rotary,
    "rotary_attention": placed(contract.RotaryAttentionConfig, dtype=torch.float64),
    "alibi": _between(contract.AlibiConfig, table=False),
    "alibi_attention": placed(contract.AlibiAttentionConfig, dtype=torch.float64),
    "relative_bias": _between(contract.RelativeBiasConfig, table=True),
    "relative_bias_attention": placed(contract.RelativeBiasAttentionConfig),
    "fourier": _fourier,
    "random_fourier": _random_fourier,
    "layer_norm": _norms(rms=False),
    "rms_norm": _norms(rms=True),
    "feed_forward": _feed_forward,
    "token_embedding": _tokens,
}
