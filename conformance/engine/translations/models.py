"""Merges of a vocabulary, embeddings and whole models in declared conventions."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import Build, Forward, Weights
from attnconf.conformance.engine.translations import Choice
from attnconf.conformance.engine.translations.layers import layer
from attnconf.conformance.engine.translations.order import inverse, side_by_side

END = "</w>"


class _Row(str):
    """A text without words, in the place of a word: the mark added to its last character gives that character."""

    def __getitem__(self, at: Any) -> str:
        return _Last(str(self)[at]) if at == -1 else str(self)[at]


class _Last(str):
    def __add__(self, mark: str) -> str:
        return str(self) if mark == END else str(self) + mark


def bpe_trainer(build: Build, choice: Choice) -> Build:
    """Translate a trainer of merges: how the end of a word is marked, and what symbols are."""
    last = "\0" if choice("word-end") == "separate" else ""  # in no word; like the mark's "<" it comes before letters
    spell = _Row if choice("word-end") == "none" else str

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)

        def translated(words: list[str]) -> Any:
            merges = forward([spell(_symbols(word, choice) + last) for word in words if word])
            return [tuple(part.replace(last + END, END) for part in pair) for pair in merges]

        return translated

    return component


def _symbols(text: str, choice: Choice) -> str:
    """Return the symbols of a text: its characters, or one for each byte."""
    return text.encode().decode("latin-1") if choice("symbols") == "bytes" else text


def tokenizer(build: Build, choice: Choice) -> Build:
    """Translate a tokenizer: how the end of a word is marked. Its configuration has the merges that join the mark."""

    def component(config: Any, weights: Any) -> Forward:
        if choice("word-end") == "attached" or config.kind != "byte-pair" or config.specials:
            return build(config, weights)
        if choice("word-end") == "none":
            return _rows(build, choice, config, weights)
        last = "\ue000"  # a private character
        vocabulary = tuple(_apart(token, last) for token in config.vocabulary)
        merges = tuple((_apart(one, last), _apart(other, last)) for one, other in config.merges)
        forward = build(replace(config, vocabulary=vocabulary, merges=merges), weights)
        return lambda text: forward(" ".join(word + last for word in text.split()))

    return component


def _rows(build: Build, choice: Choice, config: Any, weights: Any) -> Forward:
    """Return a tokenizer of texts without words: each is one word, behind it a character whose id is left out."""
    last = "\ue000"
    vocabulary = tuple(_solid(token) for token in config.vocabulary)
    merges = tuple((_solid(one), _solid(other)) for one, other in config.merges)
    forward = build(replace(config, vocabulary=(*vocabulary, last + END), merges=merges), weights)
    return lambda text: forward(_solid(_symbols(text, choice)) + last)[:-1] if text else []


def _solid(text: str) -> str:
    """Return a text with other characters in the place of white space."""
    return "".join(chr(0xF0000 + ord(c)) if c.isspace() else c for c in text)


def detokenizer(build: Build, choice: Choice) -> Build:
    """Translate a detokenizer: what symbols are. Tokens without marks are joined as they are."""

    def component(config: Any, weights: Any) -> Forward:
        forward = build(config, weights)
        if choice("symbols") != "bytes" or config.kind != "byte-pair":
            return forward
        return lambda ids: forward(ids).encode("latin-1").decode(errors="replace")

    return component


def _apart(token: str, last: str) -> str:
    """Return a token whose mark of a word's end stands behind a character of its own."""
    return token.removesuffix(END) + last + END if token.endswith(END) else token


def token_embedding(build: Build, choice: Choice) -> Build:
    """Translate an embedding of tokens: its scale, and the row of padding."""

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


def token_attention(build: Build, choice: Choice) -> Build:
    """Translate attention over embedded tokens: the layout of its sines, and its scale."""

    def component(config: Any, weights: Any) -> Forward:
        back = inverse(side_by_side(choice("sinusoidal-layout"), config.dim))
        scale = math.sqrt(config.dim) if choice("embedding-scale") == "sqrt" else 1.0
        reading = ("table.weight", "attn.q.weight", "attn.k.weight", "attn.v.weight")  # last axis: features
        other = {name: weights[name][:, back] for name in reading}
        return build(config, {**weights, **other, "table.weight": scale * other["table.weight"]})

    return component


_OF_OTHER_FEATURES = frozenset({"q.bias", "k.bias", "v.bias", "up.bias", "gate.bias", "head.bias", "attn.sinks"})
_WITHIN_HEADS = frozenset({"q_norm", "k_norm", "relative", "relative_keys", "relative_values"})


def model_weights(weights: Weights, back: Sequence[int]) -> dict[str, Tensor]:
    """Return the weights of a model with its features in another order."""
    moved = {}
    for name, weight in weights.items():
        part, order = ".".join(name.split(".")[-2:]), list(back)
        if part in ("out.weight", "down.weight"):
            weight = weight[order]
        elif part not in _OF_OTHER_FEATURES and part.partition(".")[0] not in _WITHIN_HEADS:
            weight = weight[..., order]
        moved[name] = weight
    return moved


def transformer(build: Build, choice: Choice) -> Build:
    """Translate a transformer: its layers, the layout of its sines, and the scale of its embeddings."""
    with_layers = layer(build, choice)

    def component(config: Any, weights: Any) -> Forward:
        weights = model_weights(weights, inverse(side_by_side(choice("sinusoidal-layout"), config.embed_dim)))
        if choice("transformer-scale") == "none":
            target = weights["target.weight"]
            config = replace(config, tying="none")
            weights = {"head.weight": target, "source.weight": target, **weights}
            root = math.sqrt(config.embed_dim)
            weights |= {f"{name}.weight": weights[f"{name}.weight"] / root for name in ("source", "target")}
        return with_layers(config, weights)

    return component


def language_model(build: Build, choice: Choice) -> Build:
    """Translate a language model: its layers, the layout of its sines, and what padding does to positions.

    The configuration says the rest.
    """
    with_layers = layer(build, choice)

    def component(config: Any, weights: Any) -> Forward:
        back = inverse(side_by_side(choice("sinusoidal-layout"), config.embed_dim))
        forward = with_layers(config, model_weights(weights, back))
        return partial(padding_last, forward) if choice("padded-positions") == "counted" else forward

    return component


def padding_last(forward: Forward, ids: Tensor, *, key_mask: Tensor | None = None) -> Any:
    """Return what a causal model makes of ids when all padding stands behind them, each at its own place.

    So no id behind padding counts it. What comes at padding means nothing, and is 0.
    """
    if key_mask is None:
        return forward(ids)
    order = (~key_mask).int().argsort(dim=1, stable=True)
    out = forward(ids.gather(1, order), key_mask=key_mask.gather(1, order))
    return out.gather(1, order.argsort(dim=1)[..., None].expand_as(out)) * key_mask[..., None]
