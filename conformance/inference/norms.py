"""Bind a class or function as layer_norm or rms_norm."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import CONVENTIONS, LayerNormConfig, RmsNormConfig
from attnconf.conformance.door import Reply, Request
from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.attention_text import refuse
from attnconf.conformance.inference.binding import Bound, Place, Refusal
from attnconf.conformance.inference.construction import Construction, Recorder, constructions, filled, run, space_for
from attnconf.conformance.inference.plain import (
    Found,
    PlainText,
    arguments_of,
    bound,
    matches,
    search,
    tensors_of,
    told,
)
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.trial import ROUNDING, Certificate, drawn

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


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a norm, or what stands against it."""
    kind = Kind(place.component)
    said: list[str] = []
    kept: dict[tuple[float, bool], Certificate] = {}

    def certificate(eps: float, bias: bool) -> Certificate:
        if (eps, bias) not in kept:
            kept[eps, bias] = Certificate(kind.component, list(requests(kind, eps, bias)))
        return kept[eps, bias]

    found = search(place, texts(place, kind, said), lambda text: readings(place, text, kind, certificate))
    found.said[:0] = said
    if found.text is not None and found.certified:
        found.text = _with_cast(place, _with_axes(place, found.text, kind), kind)
    return bound(place, found, told(found.text, place.thing) if found.text else ())


# -- how it is asked


def readings(
    place: Place, text: PlainText, kind: Kind, certificate: Callable[[float, bool], Certificate]
) -> Iterator[tuple[PlainText, Certificate]]:
    """Yield the conventions that a text may stand for, each with its calls."""
    fixed = "config.eps" not in text.made.text + " ".join(text.made.before) + text.arguments
    if fixed and has_eps(place.thing):  # left at its default, although it is there to be set
        return
    bias = dict(text.declares).get("layer-bias") != "no"
    for eps in CONVENTIONS["eps"][1:] if fixed else ("",):
        this = text.declaring(eps=eps) if fixed else text
        judge = certificate(float(eps or 0), bias)
        yield this, judge
        if not kind.layer and text.state:
            yield this.declaring(rms_norm_weight="one-plus"), judge


def has_eps(thing: Any) -> bool:
    """Return whether something has a parameter for ε, by its name or by a default that is as small."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return False
    return any("eps" in matches(p.name, {"eps": ROLES["eps"]}) or is_small(p.default) for p in parameters)


def is_small(default: Any) -> bool:
    return isinstance(default, float) and 0 < default < 0.01


def requests(kind: Kind, eps: float, bias: bool) -> Iterator[Request]:
    """Yield calls on rows of several sizes, among them such as show where ε is; with its own ε if it has one."""
    for i, width in enumerate(WIDTHS):
        lead = ((2, 3), (3, 4))[i]
        x = drawn(f"x {width}", *lead, width) + drawn(f"mean {width}", *lead, 1)
        small = torch.tensor([1.0, 1e-2, 1e-3, 1e-4, 1e-6, 1.0])[: lead[0] * lead[1]].double()
        rows = torch.ones(lead[0] * lead[1]).double()
        rows[: len(small)] = small if eps else 1.0
        config = kind.config((width,), eps or (0.1, 1e-5)[i], bias)
        yield Request(
            kind.component, config, kind.weights((width,), bias), {"x": x * rows.reshape(*lead, 1)}, tuple(x.shape)
        )


# -- what it may be


def texts(place: Place, kind: Kind, said: list[str]) -> Iterator[PlainText]:
    """Yield what a class or function may be, the likeliest first."""
    if not isinstance(place.thing, type) and not isinstance(place.thing, nn.Module):
        yield from functions(place, kind)
        return
    seen = set()
    for made in constructions(place.name_in_text, place.thing, kind.table, place.module, place.part):
        config = kind.config((WIDTHS[0],))
        space = space_for(config, place.module, weights=kind.weights((WIDTHS[0],)))
        try:
            whole = attempt(lambda made=made, space=space: filled(made, kind.table, place.module, space))
            thing = attempt(lambda whole=whole, space=space: run(whole, space))
        except Failed as error:
            said.append(f"{made.text}: {error}")
            continue
        for text in modules(whole, thing, kind):
            if text.body() not in seen:
                seen.add(text.body())
                yield text


def modules(made: Construction, thing: Any, kind: Kind) -> Iterator[PlainText]:
    """Yield what an object may be, by the tensors that it has."""
    if not callable(thing):
        return
    module = isinstance(thing, nn.Module)
    text = PlainText(kind.component, made, "module" if module else "object", refusals=tuple(refusals(made, kind)))
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
            if kind.layer and count == 1:
                this = _without_bias(this)
            yield this


def _entry(name: str, role: str, size: int) -> str:
    return f'"{name}": {role}' if size > 1 else f'"{name}": {role}.flatten()[:1]'


def _well_named(names: Sequence[str]) -> int:
    return sum(
        role in matches(name.split(".")[-1], ROLES) for name, role in zip(names, ("weight", "bias"), strict=False)
    )


def _without_bias(text: PlainText) -> PlainText:
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
    """Yield the gain and the shift of what only normalizes."""
    yield f"out = (out * {GAIN}).to(out.dtype)"
    if kind.layer and bias:
        yield f"out = (out + {SHIFT}).to(out.dtype)"


# -- functions


def functions(place: Place, kind: Kind) -> Iterator[PlainText]:
    """Yield the ways to call a function of x and, in some order, of gain, shift and ε."""
    made = Construction(place.name_in_text)
    base = PlainText(kind.component, made, "function", refusals=tuple(refusals(made, kind)))
    for arguments in arguments_of(place.thing, lambda p, at: argument(p, at, kind)):
        if "<params>" in arguments:
            yield from _with_params(place, base, arguments, kind)
            continue
        text = base.but(arguments=arguments)
        if kind.layer and GAIN in arguments and SHIFT not in arguments:
            text = _without_bias(text)
        elif GAIN not in arguments:
            text = text.but(after=tuple(outside(kind, True)))
        if len([a for a in arguments.split(", ") if a == "x" or a.endswith("=x")]) == 1:
            yield text


def argument(p: inspect.Parameter, at: int, kind: Kind) -> list[str]:
    """Return what a parameter may get."""
    values = {"weight": [GAIN], "bias": [SHIFT] if kind.layer else [], "eps": ["config.eps"], "params": ["<params>"],
              "shape": ["(config.shape[-1],)", "config.shape[-1]"] if kind.layer else ["config.dim"]}  # fmt: skip
    roles = matches(p.name, ROLES)
    if is_small(p.default):
        return ["config.eps"]
    if p.default is not p.empty and p.default is not None:
        return [""]
    known = [text for role in roles for text in values[role]]
    if p.default is None:
        return [*(known if {"weight", "bias", "eps"} & set(roles) else []), ""]
    others = [text for role in ("weight", "bias", "eps", "shape") for text in values[role] if text not in known]
    return ["x", *known, *others] if at == 0 and not {"weight", "params"} & set(roles) else [*known, "x", *others]


def _with_params(place: Place, base: PlainText, arguments: str, kind: Kind) -> Iterator[PlainText]:
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
        yield _without_bias(text) if kind.layer and len(entries) == 1 else text


# -- what is looked for once the rest is known


def _with_axes(place: Place, text: PlainText, kind: Kind) -> PlainText:
    """Return the text for several axes, where a class takes them: by what it says, else by what it does."""
    narrow = "config.shape[-1]"
    if not kind.layer or narrow not in text.made.text or not isinstance(place.thing, type):
        return text
    made = replace(text.made, text=text.made.text.replace(narrow, "config.shape"))
    bias = dict(text.declares).get("layer-bias") != "no"
    wide = text.but(made=made, refusals=tuple(refusals(made, kind, bias)))
    wide = wide if bias else _without_bias(wide)
    if says_several(place, text, kind):
        return wide
    shape = (3, 5)
    x = drawn("x with axes", 2, *shape)
    asked = Request(kind.component, kind.config(shape, 0.1, bias), kind.weights(shape, bias), {"x": x}, tuple(x.shape))
    certificate = Certificate(kind.component, [asked])
    given = certificate.replies(wide.draft.implementation(place.module))
    return wide if certificate.distance(given, dict(text.declares)) <= ROUNDING else text


def says_several(place: Place, text: PlainText, kind: Kind) -> bool:
    """Return whether a class makes a sequence of a number, or an annotation has one: it means several axes."""
    name = next((p for p in inspect.signature(place.thing).parameters.values()
                 if f"{p.name}=config.shape[-1]" in text.made.text), None)  # fmt: skip
    if name is not None and any(
        w in str(name.annotation).lower() for w in ("sequence", "tuple", "list", "size", "iterable")
    ):
        return True
    space = space_for(kind.config((WIDTHS[0],)), place.module, weights=kind.weights((WIDTHS[0],)))
    try:
        thing = attempt(lambda: run(text.made, space))
    except Failed:
        return False
    held = [v for v in vars(thing).values() if isinstance(v, tuple | list)]
    return any(list(v) == [WIDTHS[0]] for v in held)


def _with_cast(place: Place, text: PlainText, kind: Kind) -> PlainText:
    """Return the text with where it casts in half precision: where nearly all elements are as if there."""
    if kind.layer:
        return text
    width = 64
    x, weight = drawn("x to cast", 4, width).bfloat16(), drawn("gain to cast", width).bfloat16()
    eps = dict(text.declares).get("eps", "1e-05")
    asked = Request(kind.component, kind.config((width,), float(eps)), {"weight": weight}, {"x": x}, tuple(x.shape))
    certificate = Certificate(kind.component, [asked])
    given = certificate.replies(text.draft.implementation(place.module))[0]
    alike = {}
    for order in CONVENTIONS["rms-norm-cast"]:
        want = certificate.wanted(dict(text.declaring(rms_norm_cast=order).declares))[0]
        if isinstance(given, Failure) or isinstance(want, Failure) or not isinstance(want, Reply):
            return text
        alike[order] = float((given.out == want.out).double().mean())
    order = max(alike, key=alike.__getitem__)
    return text.declaring(rms_norm_cast=order) if alike[order] > 0.98 else text


__all__ = ["Found", "bind"]
