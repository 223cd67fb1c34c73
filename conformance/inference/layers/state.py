"""Which parameter of a layer or model is which of ours, as entries of an adapter's text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from torch import Tensor, nn

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.transformer.stimuli import vocabulary
from attnconf.conformance.inference.layers.members import NOTHING, Inner, inner_norms
from attnconf.conformance.inference.layers.reading import attention_weighings, caller
from attnconf.conformance.inference.masks.score_biases import UNBIASED, ScoreBias, score_bias
from attnconf.conformance.inference.texts import language_models
from attnconf.conformance.inference.texts.layer_requests import FIRST
from attnconf.conformance.inference.texts.layer_scales import UNSCALED, Scales, branch_scales
from attnconf.conformance.inference.texts.layer_sides import Side, sides_of
from attnconf.conformance.inference.texts.layer_text import Stack, after_the_first, template
from attnconf.conformance.inference.texts.layer_trace import Trace
from attnconf.conformance.inference.texts.layer_units import (
    Unit,
    Units,
    Widths,
    network_entries,
    norm_entries,
    units_of,
)
from attnconf.conformance.inference.trials.budgets import READINGS_OF_PARAMETERS
from attnconf.conformance.inference.weights.reading import Sizes
from attnconf.conformance.inference.weights.states import Weighing

_ENCODERS = ("encoder_layer", "encoder", language_models.COMPONENT)  # whose layers have norms wherever these stand
ONE_NORM, SANDWICH = ("norm1",), ("norm1", "norm1_out", "norm2", "norm2_out")


@dataclass(frozen=True)
class State:
    """What the text needs, and what it says of conventions."""

    entries: tuple[str, ...]
    stacks: tuple[Stack, ...]
    declares: Mapping[str, str]
    norm_first: bool
    norms: int = 2  # of one layer of an encoder
    inner: Inner = NOTHING  # norms of queries and keys
    biased: ScoreBias = UNBIASED  # T5's relative bias


def states(
    component: str, module: nn.Module, parameters: Mapping[str, Tensor], trace: Trace, widths: Widths, sizes: Sizes,
    layers: tuple[int, int],
) -> Iterator[State]:  # fmt: skip
    """Yield what the parameters may be, the likeliest first."""
    sides = sides_of(component, layers)
    inner = inner_norms(module, trace.order, widths) if component in _ENCODERS else NOTHING
    scales = UNSCALED
    if len(sides) == 1 and "branch-scale" in COMPONENTS[component].conventions:
        scales = branch_scales(module, trace.order, trace.used, trace.factors, widths, sides[0].layers)
    biased = UNBIASED
    if len(sides) == 1 and "score-bias" in COMPONENTS[component].conventions:
        biased = score_bias(module, trace.order, trace.used, bool(sides[0].under))
    apart = inner.names | scales.names | biased.names
    trace = replace(trace, order=[name for name in trace.order if name not in apart])
    units = _units(module, trace, widths, sides)
    sides = _with_norms(sides, units, component)
    real = dict(module.named_parameters())
    shapes = {n: tuple(p.shape) for n, p in real.items()}
    units.scales = sorted(scales.names)
    read = _Readings(module, parameters, units, trace, sizes)
    networks = [list(network_entries(unit, shapes, widths)) for unit in units.networks]
    ways = max((len(n) for n in networks), default=1)
    readings = max((len(read.of(unit)) for unit in units.attentions), default=1)
    for i, j in islice(product(range(max(readings, 1)), range(ways)), READINGS_OF_PARAMETERS):
        attentions = [_picked(read.of(unit), i) for unit in units.attentions]
        chosen = [n[min(j, len(n) - 1)] for n in networks]
        state = _assembled(sides, units, attentions, chosen, real, component, inner, scales)
        yield replace(state, entries=(*state.entries, *biased.entries), biased=biased)


def _with_norms(sides: list[Side], units: Units, component: str) -> list[Side]:
    """Return the sides of an encoder with as many norms in each layer as there are: one, two, or four.

    One layer that stands for all has the norms of one.
    """
    if component not in _ENCODERS:
        return sides
    (side,) = sides
    each = len(units.norms) // max(1, min(side.layers, len(units.attentions)))
    norms = {1: ONE_NORM, 4: SANDWICH}.get(each, side.parts[1])
    return [replace(side, parts=(side.parts[0], norms))]


def _units(module: nn.Module, trace: Trace, widths: Widths, sides: Sequence[Side]) -> Units:
    """Return the units of a module; without what is never used, where there are more layers than it was told to have.

    Those are prototypes, which the others were copied from.
    """
    units = units_of(module, trace.order, widths)
    if len(units.attentions) <= sum(side.layers * len(side.parts[0]) for side in sides):
        return units
    used = units_of(module, [name for name in trace.order if name in trace.used], widths)
    return used if len(used.attentions) < len(units.attentions) else units


def _picked(found: Sequence[Weighing], i: int) -> Weighing:
    return found[min(i, len(found) - 1)] if found else Weighing((), ())


class _Readings:
    """The readings of all attentions; one that is named as another is read as that one was."""

    def __init__(self, module: nn.Module, parameters: Mapping[str, Tensor], units: Units, trace: Trace, sizes: Sizes):
        self.given = (module, parameters)
        self.units, self.trace, self.sizes = units, trace, sizes
        self.found: dict[tuple[str, ...], list[Weighing]] = {}

    def of(self, unit: Unit) -> list[Weighing]:
        owner = caller(unit.owner, self.trace)
        twin = self._twin(unit)
        if twin is not None:  # it is never called: it is read as the one of another layer
            return [Weighing(tuple(e.replace(f'"{twin}.', f'"{unit.owner}.', 1) for e in w.state), w.lacking)
                    for w in self.of(next(u for u in self.units.attentions if u.owner == twin))]  # fmt: skip
        key = tuple(name.removeprefix(f"{owner}.") if owner else name for name in unit.names)
        if key not in self.found:
            found = attention_weighings(*self.given, unit, self.units, self.trace, self.sizes)
            self.found[key] = sorted(found, key=lambda one: bool(uncovered(one.state, (), key)))  # whole ones first
        return [_placed(w, owner) for w in self.found[key]]

    def _twin(self, unit: Unit) -> str | None:
        """Return the owner of a unit that is called, of the same name but for its number, where this one is not."""
        if unit.owner in self.trace.calls or not unit.owner:
            return None
        others = [u.owner for u in self.units.attentions if u.owner in self.trace.calls]
        return next((o for o in others if re.sub(r"\d+", "#", o) == re.sub(r"\d+", "#", unit.owner)), None)


def _placed(weighing: Weighing, owner: str) -> Weighing:
    """Return the entries by the names in the whole module."""
    if not owner:
        return weighing
    return Weighing(tuple(_prefixed(entry, owner) for entry in weighing.state), weighing.lacking)


def _prefixed(entry: str, owner: str) -> str:
    if entry.startswith("**{f"):
        return entry.replace('**{f"', f'**{{f"{owner}.', 1)
    return entry.replace('"', f'"{owner}.', 1)


def _assembled(
    sides: list[Side], units: Units, attentions: list[Weighing], networks: list[dict[str, tuple[str, tuple[str, ...]]]],
    real: Mapping[str, Tensor], component: str, inner: Inner, scales: Scales,
) -> State:  # fmt: skip
    entries: list[str] = []
    stacks: list[Stack] = []
    spare = len(units.norms) - sum(side.layers * len(side.parts[1]) for side in sides)
    norms = _last_ones_last(units.norms, spare) if len(sides) == 1 else list(units.norms)
    lasts = [side for side in sides if side.last]
    ended = spare >= len(lasts) > 0
    a = n = f = 0
    for side in sides:
        layers = []
        for i in range(side.layers):
            layer = scales.entries(i)
            for part in side.parts[0]:
                if a < len(attentions):
                    layer += [*(_weights(entry, part) for entry in attentions[a].state), *inner.entries(a)]
                    a += 1
            if f < len(networks) and side.parts[1]:
                layer += [
                    _entry(name, pattern, [f"ff.{x}" for x in names]) for name, (pattern, names) in networks[f].items()
                ]
                f += 1
            for part in side.parts[1]:
                if n < len(norms):
                    layer += _norm(norms[n], part, real)
                    n += 1
            layers.append(layer)
        last = _norm(norms[n], side.last, real) if side.last and ended and n < len(norms) else []
        n += bool(last)
        if not side.under:
            entries += layers[0]
            continue
        stack = _stack(side, layers)
        entries += [_behind(entry, side, stack) for entry in last]
        if stack is not None and stack.first:
            entries += [e.replace('weights["', f'weights["{side.under}.0.') for e in layers[0]]
        if stack is None:
            entries += [
                e.replace('weights["', f'weights["{side.under}.{i}.') for i, layer in enumerate(layers) for e in layer
            ]
        else:
            stacks.append(stack)
    entries += _tables(units, real, component)
    own = _declared(units, attentions, networks, norms, ended, bool(lasts), component, real)
    declares = {**own, **inner.declares, **scales.declares}
    order = [kind for kind in units.kinds if kind in ("attention", "norm")]
    return State(tuple(entries), tuple(stacks), declares, order[:1] == ["norm"], len(sides[0].parts[1]), inner)


def _last_ones_last(norms: Sequence[Unit], spare: int) -> list[Unit]:
    """Return the norms with those of no layer behind the others, also where they are used in between."""
    of_stack = [norm for norm in norms if not any(part.isdigit() for part in norm.names[0].split("."))]
    if not 0 < len(of_stack) == spare < len(norms):
        return list(norms)
    return [*(norm for norm in norms if norm not in of_stack), *of_stack]


def uncovered(entries: Sequence[str], stacks: Sequence[Stack], names: Iterable[str]) -> list[str]:
    """Return the parameters that no entry gives a value."""
    given = [match[2] for e in (*entries, *(e for s in stacks for e in s.entries)) if (match := _NAME.match(e))]
    patterns = [re.sub(r"\\\{[^}]*\\\}", ".+", re.escape(name)) for name in given]
    return [name for name in names if not any(re.fullmatch(pattern, name) for pattern in patterns)]


def _weights(entry: str, part: str) -> str:
    return entry.replace('weights["', f'weights["{part}.')


def _entry(name: str, pattern: str, names: Sequence[str]) -> str:
    return f'"{name}": {pattern.format(*(f"""weights["{x}"]""" for x in names))}'


def _norm(unit: Unit, part: str, real: Mapping[str, Tensor]) -> list[str]:
    return [f'"{name}": weights["{part}.{kind}"]' for name, kind in norm_entries(unit, real).items()]


_NUMBER = r"\{((?:\d+ \* )?i(?: \+ \d+)?)\}"  # of a layer, in the name of a parameter
_NAME = re.compile(r'^(\*\*\{)?f?"([^"]*)"')


def _stack(side: Side, layers: list[list[str]]) -> Stack | None:
    """Return the entries of all layers as those of layer i; None where the layers do not look alike."""
    layers = [layer for layer in layers if layer]
    if len(layers) < 2 or len({len(layer) for layer in layers}) > 1:
        return None
    names = [[_NAME.match(e)[2].replace("{h}", "<h>") for e in layer] for layer in layers[:2]]  # type: ignore[index]  # entries begin so
    found, first = template(*names), 0
    if found is None:
        found, first = after_the_first(names[1]), 1
    if found is None:
        return None
    entries = []
    for entry, name in zip(layers[first], found, strict=True):
        per_head = entry.startswith("**{f")
        rest = entry[_NAME.match(entry).end() :].replace('weights["', 'w["')  # type: ignore[union-attr]
        entries.append(f'{"**{" if per_head else ""}f"{name.replace("<h>", "{h}")}"{rest}')
    return Stack(side.under, side.count, tuple(entries), first)


def _behind(entry: str, side: Side, stack: Stack | None) -> str:
    """Return the entry of a last norm; of one that is numbered with the layers, with the number that it then has."""
    name = _NAME.match(entry)[2]  # type: ignore[index]  # entries begin so
    numbered = [re.split(_NUMBER, e.removeprefix('f"'), maxsplit=1) for e in stack.entries] if stack else []
    for start, number, _ in (parts for parts in numbered if len(parts) == 3):  # others are one for all layers
        before = f"{start}{eval(number, {'i': side.layers})}."
        if name.startswith(before):
            words = "{" + number.replace("i", side.count) + "}"
            return entry.replace(f'"{name}"', f'f"{start}{words}.{name.removeprefix(before)}"', 1)
    return entry


def _tables(units: Units, real: Mapping[str, Tensor], component: str) -> list[str]:
    names = [unit.names[0] for unit in units.tables]
    known = COMPONENTS[component]
    if not known.reads_ids:
        return []
    if not known.layered:
        return [f'"{name}": weights["table.weight"]' for name in names[:1]]
    if component == language_models.COMPONENT:
        return language_models.entries(units, real, FIRST.width, vocabulary(FIRST))
    ours = {1: ("target",), 2: ("source", "target"), 3: ("source", "target", "head")}.get(len(names), ())
    turned = [".T" if real[name].shape[0] == FIRST.width else "" for name in names]  # a head with its inputs first
    return [f'"{name}": weights["{our}.weight"]{t}' for name, our, t in zip(names, ours, turned, strict=False)] + [
        f'"{name}": weights["target.weight"].new_zeros(config.vocab_size)'
        for name in units.others
        if len(real[name].shape) == 1
    ]


def _declared(
    units: Units, attentions: list[Weighing], networks: list[dict[str, tuple[str, tuple[str, ...]]]], norms: list[Unit],
    ended: bool, stacks: bool, component: str, real: Mapping[str, Tensor],
) -> dict[str, str]:  # fmt: skip
    lacking = attentions[0].lacking if attentions else ()
    inputs, output = "q.bias" not in lacking and "v.bias" not in lacking, "out.bias" not in lacking
    biases = {(True, True): "all", (True, False): "inputs", (False, True): "output", (False, False): "none"}[
        inputs, output
    ]
    if not COMPONENTS[component].layered:
        return {} if biases == "all" else {"biases": biases}
    network = any(len(names) and names[0].endswith("bias") for n in networks for _, names in n.values())
    norm = any(len(unit.names) > 1 for unit in norms)
    gated = any("gate" in "".join(names) for n in networks for _, names in n.values())
    found = {"gated": "yes" if gated else "no"}
    found["layer-bias"] = "yes" if biases != "all" or network or norm or inputs else "no"
    if biases == "none" and not network and not norm:
        found["layer-bias"] = "no"
    if found["layer-bias"] == "yes":
        found |= {} if biases == "all" else {"biases": biases}
        found |= {} if network else {"network-biases": "no"}
        found |= {} if norm else {"norm-biases": "no"}
    if stacks:
        found["final-norm"] = "always" if ended else "never"
    if component == language_models.COMPONENT:
        return found | language_models.declared(units, real, FIRST.width, vocabulary(FIRST))
    if "tying" in COMPONENTS[component].conventions:
        found["tying"] = {1: "all", 2: "head"}.get(len(units.tables), "none")
    return found
