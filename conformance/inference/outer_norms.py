"""Norms that a class of attention has besides: before all of it or behind all of it, or anywhere else.

They are left out while the rest is judged. One before or behind is a norm and attention, one after the other: that the
whole is this is seen in numbers. One of queries and keys, within the heads, makes another attention.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

import torch
from torch import Tensor, nn
from torch.func import functional_call

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.inference.attention_probe import Probe
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import drawn, same_numbers

Three = tuple[Tensor, Tensor, Tensor]


def outer(place: Place, text: AttentionText, config: MultiHeadAttentionConfig) -> bool:
    """Return whether the norms that are left out stand before or behind all of the rest."""
    space = space_for(config, place.module, weights={"q.weight": torch.zeros(1, dtype=torch.float64)})
    try:
        one, other = (attempt(partial(run, text.made, dict(space))) for _ in range(2))
        if not isinstance(one, nn.Module) or text.lazy or not isinstance(place.thing, type):
            return False
        whole, rest = Probe(one, text.but(stripped=()), config), Probe(other, text, config)
        x = drawn("normed", 1 if text.single else 2, 4, config.embed_dim)
        given = (x, x, x) if text.self_only else (x, drawn("normed k", *x.shape), drawn("normed v", *x.shape))
        want = eval(text.out, {"result": whole.run(*given), "need_weights": False})
        return any(_alike(want, out) for out in _composed(whole, rest, text, given))
    except (Failed, RuntimeError, TypeError, ValueError):
        return False


def _alike(one: Tensor, other: Tensor) -> bool:
    return same_numbers(other, one)


def _composed(whole: Probe, rest: Probe, text: AttentionText, given: Three) -> Iterator[Tensor]:
    """Yield the rest with its norms before it, in every order of inputs, and behind it."""

    def normed(name: str, x: Tensor) -> Tensor:
        own: Mapping[str, Tensor] = {
            n.removeprefix(f"{name}."): p for n, p in whole.parameters.items() if n.startswith(f"{name}.")
        }
        out: Tensor = functional_call(whole.module.get_submodule(name), dict(own), (x,))
        return out

    def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        out: Tensor = eval(text.out, {"result": rest.run(q, k, v), "need_weights": False})
        return out

    names = text.stripped
    if len(names) == 1:
        yield normed(names[0], attended(*given))
    for order in product((*names, ""), repeat=3):
        if set(order[:1] if text.self_only else order) >= set(names):
            inputs = [normed(name, x) if name else x for name, x in zip(order, given, strict=True)]
            inputs = [inputs[0]] * 3 if text.self_only else inputs
            out = attended(*inputs)
            added = inputs[0] - given[0]  # the input is added as it was before the norm
            yield out - (added.transpose(0, 1) if text.sequence_first else added) if text.residual else out
