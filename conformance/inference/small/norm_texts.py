"""Norms of the user's, as the text of an adapter's function: what a class or function may be."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import LayerNormConfig, RmsNormConfig
from attnconf.conformance.inference.building.building import Construction, space_for, tensors_of
from attnconf.conformance.inference.building.construction import built, constructions
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.trials.binding import Attempts, Place
from attnconf.conformance.inference.trials.claims import returns_several
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.recorded import Recorder
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.weights.function_forms import functional, takes_together
from attnconf.conformance.inference.words.vocabulary import fitting
from attnconf.conformance.source.signatures import parameters_of

WIDTHS = (5, 8)
GAIN, SHIFT = 'weights["weight"]', 'weights["bias"]'
# What the inputs and parameters of a function are called.
ROLES: Mapping[str, str] = {
    "weight": r"weights?|w|gamma|g|gain|scale|a|alpha|a_?2|kernel|multiplier|gains|norm_?weight|ln_?w|rms_?w|gam",
    "bias": r"bias|b|beta|shift|offset|b_?2|biases|ln_?b|bet",
    "eps": r"eps|epsilon|e|.*_eps(ilon)?",
    "shape": r"(normalized_?)?shape|n|d|dim|size|width|features|d_?model|hidden_?size|num_?features|embed_?dim",
    "params": r"params?|p|parameters|theta|state|variables|config|cfg|weights",
}
CLEAR = r"weights?|gamma|gain|bias|beta|shift"  # names that say nothing else


@dataclass(frozen=True)
class Kind:
    """One of the two norms: how it is asked."""

    component: str

    @property
    def layer(self) -> bool:
        return self.component == "layer_norm"

    @property
    def size(self) -> str:
        return "config.shape[-1]" if self.layer else "config.dim"

    @property
    def table(self) -> dict[str, tuple[str, ...]]:
        sizes = ("config.shape[-1]", "config.shape") if self.layer else ("config.dim", "(config.dim,)")
        other = {"bias": ("config.bias",), "affine": ("config.affine",)} if self.layer else {}
        return {"embed": sizes, "eps": ("config.eps",), "config": (), "dropout": ("0.1",), **other}

    def config(self, shape: tuple[int, ...], eps: float = 1e-5, bias: bool = True) -> Any:
        return LayerNormConfig(shape, eps, bias=bias) if self.layer else RmsNormConfig(shape[-1], eps)

    def weights(self, shape: tuple[int, ...], bias: bool = True) -> dict[str, Tensor]:
        found = {"weight": drawn(f"gain {shape}", *shape) + 0.25}
        return {**found, "bias": drawn(f"shift {shape}", *shape)} if self.layer and bias else found


def has_eps(thing: Any) -> bool:
    """Return whether something has a parameter for ε, by its name or by a default that is as small."""
    eps = {"eps": ROLES["eps"]}
    return any("eps" in fitting(p.name, eps) or is_small(p.default) for p in parameters_of(thing))


def is_small(default: Any) -> bool:
    return isinstance(default, float) and 0 < default < 0.01


# -- what it may be


def texts(place: Place, kind: Kind, failures: Attempts) -> Iterator[Text]:
    """Yield what a class or function may be, the likeliest first."""
    is_function = not isinstance(place.thing, type | nn.Module)
    if is_function and not takes_together(place.thing):
        yield from functions(place, kind)
        return
    every = constructions(place.name_in_text, place.thing, kind.table, place.module, place.part)
    first = returns_several(place.thing)
    seen = set()
    for made in functional(place, kind.table) if takes_together(place.thing) else every:
        try:
            whole, thing = built(place, made, kind.table, kind.config((WIDTHS[0],)), kind.weights((WIDTHS[0],)))
        except Failed as error:
            failures.say(f"{made.text}: {error}")
            continue
        if is_function and len(tensors_of(thing)) > 2:  # made for something that has more than gain and shift
            continue
        for text in modules(whole, thing, kind):
            text = text.but(out="result[0]") if first else text
            if text.draft().body not in seen:
                seen.add(text.draft().body)
                yield text
    if is_function:  # what its dict holds is seen where it is asked
        yield from functions(place, kind)


def modules(made: Construction, thing: Any, kind: Kind) -> Iterator[Text]:
    """Yield what an object may be, by the tensors that it has."""
    if not callable(thing):
        return
    module = isinstance(thing, nn.Module)
    text = Text(kind.component, made, "module" if module else "object", refusals=tuple(refusals(made, kind)))
    sizes = {name: x.numel() for name, x in tensors_of(thing).items()}
    whole = [name for name, size in sizes.items() if size in (WIDTHS[0], 1)]
    if not whole:
        yield text.but(after=tuple(outside(kind, True)))
    for count in range(min(2 if kind.layer else 1, len(whole)), 0, -1):
        for names in sorted(permutations(whole, count), key=lambda names: -_well_named(names)):
            entries = [_entry(n, role, sizes[n]) for n, role in zip(names, (GAIN, SHIFT), strict=False)]
            if {"affine", "bias"} & made.given:  # they may not be there
                entries = [entry.replace('["', '.get("').replace('"]', '")') for entry in entries]
            this = text.but(state=tuple(entries))
            if kind.layer and count == 1 and any(_is_trained(thing, name) for name in whole if name not in names):
                continue  # a shift that is there is no shift that is absent
            if kind.layer and count == 1 and not _offers_shift(thing):
                this = without_bias(this)
            yield this


def _offers_shift(thing: Any) -> bool:
    """Return whether something has a shift unless it is asked for none: then it is not absent, whatever comes of that.

    One that can be asked for, and is not there by default, is absent where the argument has no effect.
    """
    asked = [p for p in parameters_of(type(thing)) if p.default is True]
    return any("bias" in fitting(p.name, ROLES) for p in asked)


def _is_trained(thing: Any, name: str) -> bool:
    return isinstance(thing, nn.Module) and name in dict(thing.named_parameters())


def _entry(name: str, role: str, size: int) -> str:
    return f'"{name}": {role}' if size > 1 else f'"{name}": {role}.flatten()[:1]'


def _well_named(names: Sequence[str]) -> int:
    return sum(
        role in fitting(name.split(".")[-1], ROLES) for name, role in zip(names, ("weight", "bias"), strict=False)
    )


def without_bias(text: Text) -> Text:
    kind = Kind(text.component)
    return text.declaring(layer_bias="no").but(
        refusals=(*refusals(text.made, kind, bias=False), 'lacking(weights, "bias")')
    )


def refusals(made: Construction, kind: Kind, bias: bool = True) -> Iterator[str]:
    """Yield what stands before anything is built: what it has no way to be asked for."""
    if not kind.layer:
        return
    if "config.shape[" in made.text or "config.shape" not in made.text:
        yield from refuse("len(config.shape) > 1", "several axes")
    if "affine" not in made.given:
        yield from refuse("not config.affine", "a norm without gain")
    if bias and "bias" not in made.given:
        yield from refuse("config.affine and not config.bias", "a norm without shift")


def outside(kind: Kind, bias: bool) -> Iterator[str]:
    """Yield the gain and the shift of what only normalizes, where there are some."""
    yield f'if "weight" in weights: out = (out * {GAIN}).to(out.dtype)'
    if kind.layer and bias:
        yield f'if "bias" in weights: out = (out + {SHIFT}).to(out.dtype)'


# -- functions


def functions(place: Place, kind: Kind) -> Iterator[Text]:
    """Yield the ways to call a function of x and, in some order, of gain, shift and ε."""
    made = Construction(place.name_in_text)
    base = Text(kind.component, made, "function", refusals=tuple(refusals(made, kind)))
    for arguments in calls_of(place.thing, lambda p, at: argument(p, at, kind)):
        if "<params>" in arguments:
            yield from _with_params(place, base, arguments, kind)
            continue
        text = base.but(arguments=arguments)
        if kind.layer and GAIN in arguments and SHIFT not in arguments:
            text = without_bias(text)
        elif GAIN not in arguments:
            text = text.but(after=tuple(outside(kind, True)))
        text = text.but(out="result[0]") if returns_several(place.thing) else text
        if len([a for a in arguments.split(", ") if a == "x" or a.endswith("=x")]) == 1:
            yield text


def argument(p: inspect.Parameter, at: int, kind: Kind) -> list[str]:
    """Return what a parameter may get; a gain or a shift that may be handed over is, or it could be broken."""
    values = {"weight": [GAIN], "bias": [SHIFT] if kind.layer else [], "eps": ["config.eps"], "params": ["<params>"],
              "shape": ["(config.shape[-1],)", "config.shape[-1]"] if kind.layer else ["config.dim"]}  # fmt: skip
    roles = fitting(p.name, ROLES)
    if is_small(p.default):
        return ["config.eps"]
    if p.default is not p.empty and p.default is not None:
        return [""]
    known = [text for role in roles for text in values[role]]
    if p.default is None:
        given = known if {"weight", "bias", "eps"} & set(roles) else []
        return given if given and re.fullmatch(CLEAR, p.name.lower()) else [*given, ""]
    others = [text for role in ("weight", "bias", "eps", "shape") for text in values[role] if text not in known]
    return ["x", *known, *others] if at == 0 and not {"weight", "params"} & set(roles) else [*known, "x", *others]


def _with_params(place: Place, base: Text, arguments: str, kind: Kind) -> Iterator[Text]:
    """Yield calls where the parameters are in a dict: what is asked of it is seen when it is called."""
    recorder = Recorder(lambda name: torch.ones(WIDTHS[0], dtype=torch.float64))
    weights = kind.weights((WIDTHS[0],))
    space = space_for(
        kind.config((WIDTHS[0],)), place.module, weights=weights, params=recorder, x=torch.ones(2, WIDTHS[0])
    )
    try:
        attempt(lambda: eval(f"{base.made.text}({arguments.replace('<params>', 'params')})", space))
    except Failed:
        return
    for names in sorted(permutations(recorder.asked), key=lambda names: -_well_named(names)):
        entries = [f'"{n}": {role}' for n, role in zip(names, (GAIN, SHIFT), strict=False)]
        text = base.but(arguments=arguments.replace("<params>", "{" + ", ".join(entries) + "}"))
        yield without_bias(text) if kind.layer and len(entries) == 1 else text
