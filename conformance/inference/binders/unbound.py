"""Bind a class whose parameters are not understood: it keeps those that it begins with.

It is asked what holds whatever they are. That it is equivalent to anything is not established.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import (
    COMPONENTS,
    FeedForwardConfig,
    LayerNormConfig,
    LearnedConfig,
    RmsNormConfig,
    TokenEmbeddingConfig,
)
from attnconf.conformance.inference.binders import embedding, feed_forward, positions
from attnconf.conformance.inference.building.building import Construction, Meanings
from attnconf.conformance.inference.building.construction import built, constructions
from attnconf.conformance.inference.small.norm_texts import Kind
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output
from attnconf.conformance.inference.trials.slots import Slots, refuse
from attnconf.conformance.inference.trials.trial import Draft, drawn

IDS = torch.arange(6).reshape(2, 3)


@dataclass(frozen=True)
class Asked:
    """How something of a component is built and called for a trial."""

    table: Meanings
    config: Any
    weights: Mapping[str, Tensor]
    given: Tensor
    shape: tuple[int, ...]


def asked(component: str) -> Asked | None:
    """Return how something is asked; None for a component of which nothing can be asked without weights."""
    x = drawn("own parameters", 2, 3, 6)
    if component == "feed_forward":
        network = FeedForwardConfig(6, 12)
        return Asked(feed_forward.TABLE, network, feed_forward.weights_of(network), x, (2, 3, 6))
    if component in ("layer_norm", "rms_norm"):
        norm: Any = LayerNormConfig((6,)) if component == "layer_norm" else RmsNormConfig(6)
        return Asked(Kind(component).table, norm, {"weight": x[0, 0]}, x, (2, 3, 6))
    table = {"table.weight": drawn("own table", 11, 6)}
    if component == "token_embedding":
        return Asked(embedding.TABLE, TokenEmbeddingConfig(11, 6), table, IDS, (2, 3, 6))
    if component == "learned":
        return Asked(positions.TABLE, LearnedConfig(6, 11), table, x, (2, 3, 6))
    return None


def bind(place: Place) -> Bound | None:
    """Return the binding of a class that can be built and called as a component, or None."""
    how = asked(place.component)
    if how is None or not isinstance(place.thing, type) or not issubclass(place.thing, nn.Module):
        return None
    for made in constructions(place.name_in_text, place.thing, how.table, place.module, place.part):
        try:
            whole, module = built(place, made, how.table, how.config, how.weights)
            out = found_output(attempt(partial(module.double().eval(), how.given)), how.shape)
        except Failed:
            continue
        if out is not None:
            draft = Draft(place.component, slots(place.component, whole, out).source(), {"parameters": "own"})
            return Bound(place, draft, None, None, told(whole, out))
    return None


def slots(component: str, made: Construction, out: str) -> Slots:
    """Return the slots of a component whose weights say nothing but a dtype and a device."""
    known = COMPONENTS[component]
    refusals = [] if "config.dropout" in made.text else _undropped(component)
    unplaced = refuse("positions is not None", "an argument for positions") if "positions" in known.keywords else []
    build = ["exact(weights)", *made.before, f"call = settle(lambda: {made.text}, config, weights)"]
    call = f"call({', '.join(known.inputs)})"
    return Slots(component, known.forward, refusals, build, masks=unplaced, call=call, read=out)


def _undropped(component: str) -> list[str]:
    return refuse("config.dropout and config.training", "dropout") if component in ("feed_forward", "learned") else []


def told(made: Construction, out: str) -> tuple[str, ...]:
    """Return the binding in three lines, for people."""
    shown = made.text.replace("theirs.", "").replace("config.", "")
    return (
        f"constructor  {shown}",
        f"forward      (x) -> {out}",
        "weights      its own: which of them is which is not understood; only what needs no weights is asked",
    )
