"""What each size of a class is, whatever it is called: read off the shapes of what is built where that size is another.

The width of the model is that of its norms; hidden features are the rows of one matrix and the columns of another; a
number of layers adds parameters, and changes none; a number of heads changes no shape.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import torch
from torch import nn

from attnconf.conformance.inference.building.building import Construction, Meanings, run, space_for
from attnconf.conformance.inference.building.construction import Part
from attnconf.conformance.inference.building.knobs import ARGUMENT, ENTRY, GLOBAL, Knob, Panel, panel_of
from attnconf.conformance.inference.texts.layer_requests import FIRST, request
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.words.asked import asked_of
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.signatures import parameters_of

Shapes = Mapping[str, tuple[int, ...]]
BUFFER = "buffer "  # before the name of one
UNSAID = 6
ROWS = "256"  # of a table of positions or tokens
HEADS = 3  # sizes without an effect on shapes that are tried as the number of heads
MOST_HEADS = 64  # defaults of parts up to this may be numbers of heads
WIDTHS = ("embed", "hidden")  # names of what heads may have to divide
OUTER = (ARGUMENT, ENTRY, GLOBAL)


@dataclass(frozen=True)
class Effect:
    """What another value of a size does: the parameters that are there besides, and the axes that change."""

    fails: bool
    more: frozenset[str]
    axes: Mapping[str, tuple[tuple[int, int], ...]]  # parameter -> (axis, size that it was)

    @property
    def silent(self) -> bool:
        """Whether no shape tells of it."""
        return not self.more and not self.axes


def sized(place: Place, table: Meanings, part: Part) -> Iterator[Construction]:
    """Yield constructions whose sizes were found out, where their names do not say all."""
    if not isinstance(place.thing, type):
        return
    config = request(place.component, {}, FIRST, (2, 2)).config
    space = space_for(config, place.module)
    panels = (panel_of(place.name_in_text, place.thing, table, place.module, part, p) for p in ("", *_unsaid(place)))
    known = (wide for p in panels if p and _may_have_news(p) for wide in (p, *_widened(p)))
    panel, shapes = next(((p, found) for p in known if (found := _shapes(p, {}, space))), (None, None))
    if panel is None or shapes is None:
        return
    drops = {panel.fraction: "config.dropout"} if panel.fraction and _drops(panel, panel.fraction, space) else {}
    effects = {knob: _effect(panel, knob, shapes, space) for knob in panel.knobs}
    roles = _roles(panel, shapes, effects)
    stacked = "layers" in roles.values() and "layers" not in table  # it is no single layer
    for heads in () if stacked else _heads(panel, roles, effects):
        if not (panel.starred or _inputs(panel, roles, effects) or any(_is_news(k, panel) for k in (*roles, *heads))):
            continue
        for made in _written(panel, {**roles, **dict.fromkeys(heads, "heads")}, effects, drops):
            with panel.kept():
                yield made


def _widened(panel: Panel) -> Iterator[Panel]:
    """Yield the panel with widths that every number of heads divides which is a default of some part."""
    fixed = [k.value for k in panel.knobs if not k.free and k.where not in OUTER and k.value <= MOST_HEADS]
    if fixed:
        times = lcm(*fixed)
        wide = (replace(k, value=times * k.value) if k.free and panel.meaning(k) in WIDTHS else k for k in panel.knobs)
        yield replace(panel, knobs=tuple(wide))


def _unsaid(place: Place) -> list[str]:
    """Return the names of what has no value and may be a probability: nothing says what it is."""
    wanted = [p.name for p in parameters_of(place.thing) if p.default is p.empty and p.annotation is p.empty]
    asked = [name for p in wanted for name, value in asked_of(place.thing, p).entries.items() if value is None]
    return [name for name in (*wanted, *asked)[::-1] if not meanings(name)][:UNSAID]


def _may_have_news(panel: Panel) -> bool:
    """Return whether names do not say all: also where two of them say that they are the width of the model."""
    widths = [k for k in panel.knobs if k.where in (ARGUMENT, ENTRY) and panel.meaning(k) == "embed"]
    return panel.starred or len(widths) > 1 or any(_is_news(k, panel) for k in panel.knobs)


def _inputs(panel: Panel, roles: Mapping[Knob, str], effects: Mapping[Knob, "Effect"]) -> list[Knob]:
    """Return what is called the width of the model, and is that of what is projected to it, or from it."""
    called = [k for k in panel.knobs if k not in roles and panel.meaning(k) == "embed"]
    return [k for k in called if k.where in (ARGUMENT, ENTRY) and not effects[k].silent]


def _is_news(knob: Knob, panel: Panel) -> bool:
    """Return whether what a size is cannot be known by its name, or set by an argument."""
    return knob.where not in OUTER or not panel.meaning(knob)


# -- effects


def _built(panel: Panel, texts: Mapping[Knob, str], space: dict[str, Any]) -> nn.Module:
    """Return what is built with some sizes set, without memory. Raises Failed."""
    made = panel.construction(texts, frozenset())

    def built() -> nn.Module:
        with panel.kept(), torch.device("meta"):
            module: nn.Module = run(made, dict(space))
        return module

    return attempt(built)


def _drops(panel: Panel, fraction: Knob, space: dict[str, Any]) -> bool:
    """Return whether what has no value, and may be a probability, is one of dropout."""
    try:
        parts = _built(panel, {fraction: "0.25"}, space).modules()
    except Failed:
        return False
    return any(isinstance(part, nn.Dropout) and part.p == 0.25 for part in parts)


def _shapes(panel: Panel, texts: Mapping[Knob, str], space: dict[str, Any]) -> Shapes | None:
    """Return the shapes of the parameters and buffers of what is built with some sizes set; None where that fails."""
    try:
        module = _built(panel, texts, space)
        buffers = {f"{BUFFER}{name}": tuple(b.shape) for name, b in module.named_buffers()}
        return {name: tuple(p.shape) for name, p in module.named_parameters()} | buffers
    except (Failed, AttributeError, ValueError):
        return None


def _effect(panel: Panel, knob: Knob, shapes: Shapes, space: dict[str, Any]) -> Effect:
    others = (_shapes(panel, {knob: str(value)}, space) for value in (2 * knob.value, 3 * knob.value, 1))
    there = next((found for found in others if found is not None), None)
    if there is None:
        return Effect(True, frozenset(), {})
    axes = {
        name: tuple((i, a) for i, (a, b) in enumerate(zip(shape, there[name], strict=False)) if a != b)
        for name, shape in shapes.items()
        if there.get(name, shape) != shape
    }
    return Effect(False, frozenset(set(there) ^ set(shapes)), axes)


# -- roles


def _roles(panel: Panel, shapes: Shapes, effects: Mapping[Knob, Effect]) -> dict[Knob, str]:
    """Return what each size is, where shapes tell."""
    norms = {name for name in shapes if _in_norm(name, shapes)}
    widths = [k for k, e in effects.items() if any(e.axes.get(n) == ((0, k.value),) for n in norms)]
    if not widths:
        return {}
    width = max(widths, key=lambda k: len(effects[k].axes)).value
    found = {k: "embed" for k in widths if k.value == width}
    sides = [k for k, e in effects.items() if e.more and not e.axes and k not in found]
    found |= _layers(sides, effects, shapes, panel.table)
    for knob, effect in effects.items():
        if knob not in found and not effect.more and effect.axes:
            role = "embed" if _of_attention(knob, effect, shapes) else _of_network(knob, effect, width)
            role = role or ("vocab" if "vocab" in panel.table and _of_ids(knob, effect, panel) else "")
            found |= {knob: role} if role else {}
    return found


def _in_norm(name: str, shapes: Shapes) -> bool:
    """Return whether a parameter belongs to a module that has vectors alone."""
    owner = name.rpartition(".")[0]
    return (
        bool(owner)
        and not name.startswith(BUFFER)
        and all(len(s) == 1 for n, s in shapes.items() if n.rpartition(".")[0] == owner)
    )


def _layers(sides: list[Knob], effects: Mapping[Knob, Effect], shapes: Shapes, table: Meanings) -> dict[Knob, str]:
    """Return which number is that of which layers: those of the encoder are used, and hence defined, first."""
    if len(sides) != 2 or "decoder_layers" not in table:
        return dict.fromkeys(sides, "layers")
    first, second = sorted(sides, key=lambda k: ("dec" in " ".join(effects[k].more).lower(), min(effects[k].more)))
    return {first: "layers", second: "decoder_layers"}


def _of_attention(knob: Knob, effect: Effect, shapes: Shapes) -> bool:
    """Return whether a size is the width within attention: three matrices lead to it, one leads back.

    These are queries, keys and values. To the features of a network leads one, or two with a gate.
    """
    sides: dict[int, list[int]] = {0: [], 1: []}
    for name, axes in effect.axes.items():
        if len(shapes[name]) == 2 and not name.startswith(BUFFER):
            for axis, size in axes:
                sides[axis].append(size)
    return set(sides[1]) == {knob.value} and sum(sides[0]) == 3 * sum(sides[1])


def _of_ids(knob: Knob, effect: Effect, panel: Panel) -> bool:
    """Return whether a size is that of a vocabulary: it has no default, and is that of the rows of parameters alone."""
    return knob.free and not panel.meaning(knob) and _of_rows(effect) and not any(BUFFER in n for n in effect.axes)


def _of_network(knob: Knob, effect: Effect, width: int) -> str:
    """Return whether a size is that of hidden features, or how many there are for each feature; else nothing."""
    changed = [axes for axes in effect.axes.values() if len(axes) == 1]
    sides, sizes = {axes[0][0] for axes in changed}, {axes[0][1] for axes in changed}
    if len(changed) < len(effect.axes) or sides != {0, 1}:
        return ""
    if sizes <= {knob.value, 2 * knob.value}:
        return "hidden"
    return "ratio" if sizes <= {knob.value * width, 2 * knob.value * width} else ""


def _heads(panel: Panel, roles: Mapping[Knob, str], effects: Mapping[Knob, Effect]) -> Iterator[tuple[Knob, ...]]:
    """Yield which sizes may be the number of heads: those that are called so, else one that no shape tells of."""
    called = tuple(k for k in panel.knobs if k not in roles and panel.meaning(k) == "heads")
    if any(k.where in OUTER for k in called):
        yield called
        return
    apart = [k for k, e in effects.items() if e.more and e.axes]  # heads with matrices of their own: more, and narrower
    unsaid = [k for k, e in effects.items() if (e.silent or k in apart) and k not in roles and not panel.meaning(k)]
    silent = [k for k in unsaid if k.where in OUTER]
    if not (silent or called):  # nobody can ask for them: they are a default of a part
        silent = [k for k in unsaid if k.value <= MOST_HEADS]
    for knob in sorted(silent, key=lambda k: (k not in apart, not effects[k].fails))[:HEADS]:
        yield (knob, *called)
    if not silent:
        yield called


def _written(
    panel: Panel, roles: Mapping[Knob, str], effects: Mapping[Knob, Effect], drops: Mapping[Knob, str]
) -> Iterator[Construction]:
    """Yield the construction in which all sizes are what they were found, or are called, to be."""
    named = {k: m for k in panel.knobs if k not in roles and (m := panel.meaning(k)) and _needs(k, effects[k])}
    named = {k: m for k, m in named.items() if k not in _inputs(panel, roles, effects)}
    told = {k: m for k, m in {**named, **roles}.items() if panel.table.get(m)}
    rows = [k for k, e in effects.items() if _of_rows(e) and k.where in OUTER and k.value < int(ROWS)]
    ratios = panel.table.get("ratio", ()) if "ratio" in told.values() else ("",)
    given = frozenset(told.values()) | ({"dropout"} if drops else set())
    if "hidden" in given:
        given -= {"ratio"}
    for ratio in reversed(ratios):  # a number that is whole stays so
        texts = {k: ratio if m == "ratio" else panel.table[m][0] for k, m in told.items()}
        yield panel.construction({**dict.fromkeys(rows, ROWS), **texts, **drops}, given)


def _of_rows(effect: Effect) -> bool:
    """Return whether a size is that of the rows of tables, and of nothing else."""
    return bool(effect.axes) and all(len(axes) == 1 and axes[0][0] == 0 for axes in effect.axes.values())


def _needs(knob: Knob, effect: Effect) -> bool:
    """Return whether a size that is known by its name alone is to be set: it is the caller's, and no inner default."""
    return knob.where in (ARGUMENT, ENTRY) or (knob.where == GLOBAL and not effect.silent)
