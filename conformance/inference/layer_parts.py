"""Parts that the constructor of a layer wants: modules of the user's own file, or torch's, as text."""

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.building import run, space_for
from attnconf.conformance.inference.construction import Part, constructions
from attnconf.conformance.inference.layer_requests import FIRST, request
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.vocabulary import meanings, snake

# What a parameter may want, by its name: the pattern of the name, and that of the user's classes that may be it.
_WANTS = (
    (r"(.*_)?(attn|attention|att|mha|self|cross|self_?block|cross_?block|src_?attn)(_.*)?", r"att|mha"),
    (r"(.*_)?(ff|ffn|feed_?forward|mlp|mlp_?block|network|ff_?network)(_.*)?", r"feed_?forward|ffn|^ff|mlp"),
    (r"(encoder_?)?(layer|block)s?|encoder_?layer", r"(layer|block)$"),
    (r"(decoder_?)?(layer|block)s?|decoder_?layer", r"(layer|block)$"),
    (r"encoder", r"encoder$"),
    (r"decoder", r"decoder$"),
)
ROWS = ("64",)  # of a table that vectors are handed in behind
_ACTIVATIONS = ('"relu"', "nn.ReLU()", "torch.nn.functional.relu", "nn.ReLU", '"gelu"')


def layer_parts(place: Place, table: Mapping[str, Sequence[str]]) -> Part:
    """Return what gives expressions for a parameter that wants a module, by its name."""
    config = request(place.component, {}, FIRST, (2, 2)).config
    space = space_for(config, place.module, weights={"": torch.zeros(1, dtype=torch.float64)})
    seen: set[Any] = {place.thing}

    def part(name: str, parameter: inspect.Parameter) -> Sequence[str]:
        plain = snake(name).strip("_")
        if parameter.default is not parameter.empty or parameter.annotation in (int, float, bool):
            return ()
        if "activation" in meanings(name):
            return _ACTIVATIONS
        if re.search(r"dim|size|hidden|num|channels|width|units|heads|_n$|^n_|^d_|^dff|_d$|inner|mult|ratio", plain):
            return ()
        found: list[str] = []
        for wanted, kinds in _WANTS:
            if re.fullmatch(wanted, plain):
                side = "decod" if "decod" in plain or place.component == "decoder" else "encod"
                sized = {**table, "vocab": table.get("vocab", ROWS)} if kinds.endswith("coder$") else table
                found += _built(place, kinds, side, sized, part, space, seen)
                if plain.endswith("s") and found and re.search("layer|block", plain):
                    found = [f"nn.ModuleList([{text} for _ in range(config.num_layers)])" for text in found]
        if re.search(r"ff|feed|mlp|network", plain):
            found.append("nn.Sequential(nn.Linear(config.embed_dim, config.hidden_dim), nn.ReLU(), "
                         "nn.Linear(config.hidden_dim, config.embed_dim))")  # fmt: skip
        return tuple(dict.fromkeys(found)) or place.part(name, parameter)

    return part


def _built(
    place: Place, kinds: str, side: str, table: Mapping[str, Sequence[str]], part: Part, space: dict[str, Any],
    seen: set[Any],
) -> list[str]:  # fmt: skip
    """Return expressions that build the user's own classes of some kinds; those of the wanted side first."""
    found = []
    for name, thing in list(vars(place.module).items()):
        plain = snake(name)
        own = isinstance(thing, type) and issubclass(thing, nn.Module) and (
            thing.__module__ == place.module.__name__ or place.module.__name__.startswith("torch")
        )  # fmt: skip
        if not own or thing in seen or not re.search(kinds, plain):
            continue
        seen.add(thing)
        for made in constructions(f"theirs.{name}", thing, table, place.module, part):
            try:
                attempt(partial(run, made, dict(space)))
            except Failed:
                continue
            found.append((side not in plain, made.text))
            break
        seen.discard(thing)
    return [text for _, text in sorted(found)]
