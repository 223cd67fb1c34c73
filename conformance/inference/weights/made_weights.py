"""What each size is that a function makes weights of, whatever it is called: read off the shapes of what it makes.

A number of layers adds weights, and changes none. The width of the model changes the most; what changes queries and
outputs alone is their number of heads, what changes keys and values alone the number of theirs, what changes all four
how wide a head is; what changes none of these, the hidden features.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from types import SimpleNamespace
from typing import Any

from attnconf.adapters.generated.function_module import GENERATORS, SEEDS, leaves_of
from attnconf.conformance.inference.building.building import Construction, Meanings, space_for
from attnconf.conformance.inference.building.configurations import entry_texts
from attnconf.conformance.inference.building.handed_configurations import Handed, handed
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import FEW, KNOBS
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.weights.naming import roles_of
from attnconf.conformance.inference.weights.weight_keys import PART, parts_of_keys
from attnconf.conformance.inference.weights.weight_makers import code_of, functions_of
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.source_text import code_reached

Shapes = Mapping[str, tuple[int, ...]]
RANDOM: tuple[tuple[str, tuple[str, ...]], ...] = ((GENERATORS, ("torch.Generator()", "0")), (SEEDS, ("0",)))
SEEDED = r"(default_rng|RandomState|SeedSequence|seed|manual_seed|PRNGKey|key)"  # what is handed a seed
DRAWS = r"(normal|standard_normal|randn|uniform|random|random_sample)"
USUAL = {"embed": 24, "heads": 4, "kv_heads": 2, "head_dim": 6, "hidden": 40, "layers": 2, "vocab": 30, "max_len": 50,
         "ratio": 4, "kv_groups": 2}  # fmt: skip
DESCENDING = (64, 32, 16, 8, 4, 2)  # each divides those before it
MOST = 1024  # own values above make weights that take long
ANY = {"eps": 1e-5, "dropout": 0.0, "bias": True, "causal": True, "norm_first": True, "base": 1e4, "head_dim": 8,
       "embed_dim": 24, "num_heads": 3}  # fmt: skip
ONE = "1"  # layer has the weights where a function is one, and all are made together
NAMED_SO = ("d", "c", "e", "dm", "m", "w")  # letters for the width of a model, where shapes do not tell


@dataclass(frozen=True)
class Size:
    """One size: an argument of the function that makes the weights, or an entry of the configuration."""

    name: str
    entry: bool
    value: int | None


@dataclass(frozen=True)
class Maker:
    """A function that makes weights: what it is told besides its sizes, and the configuration, where there is one.

    ``others``: texts for what randomness comes from, the likeliest first, and for what keys are put together of.
    """

    called: str
    others: Mapping[str, tuple[str, ...]]
    sizes: tuple[Size, ...]
    configuration: Handed | None
    takes: str  # the name of its own parameter for that

    def configured(self, texts: Mapping[Size, str]) -> str:
        """Return the text of the configuration with these sizes; nothing where there is none."""
        return self.configuration.write({s.name: t for s, t in texts.items() if s.entry}) if self.configuration else ""

    def text(self, texts: Mapping[Size, str], random: Sequence[str]) -> str:
        """Return the call with these sizes."""
        words = dict(zip(self.others, random, strict=True)) | {s.name: t for s, t in texts.items() if not s.entry}
        words |= {self.takes: self.configured(texts)} if self.takes else {}
        return f"{self.called}({', '.join(f'{name}={text}' for name, text in words.items())})"


@dataclass(frozen=True)
class Made:
    """How weights are made, and what the function gets that computes with them: a configuration, a number of heads."""

    construction: Construction
    told: Mapping[str, str]


def made_weights(
    place: Place, table: Meanings, name: str, takes: str, told: Mapping[str, str], silent: Sequence[str]
) -> Iterator[Made]:
    """Yield calls of a function of the file that makes weights, with the sizes that shapes tell.

    ``takes``: the argument of the function that computes with the weights; ``told``: what others of its arguments mean;
    ``silent``: those whose names say nothing, of which the first is the number of heads where there is no other.
    """
    maker = _maker(place, table, name, takes)
    if maker is None or not 0 < len(maker.sizes) <= KNOBS:
        return
    space = space_for(SimpleNamespace(**ANY), place.module)
    start = next(_starts(maker, table, space), None)
    if start is None:
        return
    values, random, shapes = start
    effects = {size: _effect(maker, size, values, random, shapes, space) for size in maker.sizes}
    own = maker.configuration.names.get(place.thing.__name__, "") if maker.configuration else ""
    heads = [n for n in silent if n != own][:1] if "heads" in table and "heads" not in told.values() else []
    known = {*told.values(), *(["heads"] if heads else [])}
    for roles in islice(_roles(maker, effects, shapes, table, known), FEW):
        layers = {s: ONE for s in maker.sizes if s not in roles and not s.entry and _counts(effects[s])}
        if {*roles, *layers} < {s for s in maker.sizes if not s.entry and s.value is None}:
            continue  # what has to be given is not known
        texts = {size: _text(role, size, table) for size, role in roles.items()} | layers
        texts |= {s: str(v) for s, v in values.items() if s not in texts and s.value is None}
        made = Construction(maker.text(texts, random), (), frozenset(roles.values()) | ({"heads"} if heads else set()))
        counts = dict.fromkeys(heads, table["heads"][0]) if heads else {}
        yield Made(made, counts | ({own: maker.configured(texts)} if own else {}))


def _text(role: str, size: Size, table: Meanings) -> str:
    whole = role == "ratio" and size.value is not None
    return table[role][-1 if whole else 0]


def _maker(place: Place, table: Meanings, name: str, weights: str) -> Maker | None:
    """Return what a function is told; None where something is neither a size nor known."""
    thing = functions_of(place.module)[name]
    configuration = handed([thing, place.thing], weights, place.module, table)
    takes = configuration.names.get(thing.__name__, "") if configuration else ""
    given = [p for p in parameters(thing) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != takes]
    parts = dict.fromkeys(parts_of_keys(thing), (PART,))
    random, sizes = _random([p for p in given if p.name not in parts], code_reached(code_of(thing))) | parts, []
    for p in given:
        whole = type(p.default) is int and p.default > 1
        if p.name in random or not (p.default is p.empty or whole or (p.default is None and _is_size(p.name, table))):
            continue
        if not (p.annotation in (p.empty, int, "int") or whole or p.default is None):
            return None
        sizes.append(Size(p.name, False, p.default if whole else None))
    entries = configuration.numbers if configuration else {}
    sizes += [Size(name, True, value) for name, value in entries.items()]
    return Maker(f"theirs.{name}", random, tuple(sizes), configuration, takes)


def _is_size(name: str, table: Meanings) -> bool:
    return any(m in table and m in USUAL for m in meanings(name))


def _random(given: Sequence[inspect.Parameter], code: str) -> dict[str, tuple[str, ...]]:
    """Return what the parameters get that randomness comes from: one letter is it only where nothing else is.

    Whatever is handed on as a generator, or draws, is one, and may be left out where it has a default; so is a seed.
    """
    found = {p.name: RANDOM[0][1] for p in given if re.search(rf"\bgenerator *= *{p.name}\b", code)}
    wanted = [p.name for p in given if p.default is p.empty]
    found |= {name: RANDOM[0][1] for name in wanted if re.search(rf"\b{name}\.{DRAWS}\(", code)}
    found |= {name: RANDOM[1][1] for name in wanted if re.search(rf"\b{SEEDED}\( *{name} *\)", code)}
    given = [p for p in given if p.name not in found]
    for p in sorted(given, key=lambda p: len(p.name) == 1):
        texts = next((texts for pattern, texts in RANDOM if re.fullmatch(pattern, p.name.lower())), ())
        if texts and p.default is p.empty and not (len(p.name) == 1 and (found or p.name.isupper())):
            found[p.name] = texts
    return found


# -- shapes


def _starts(
    maker: Maker, table: Meanings, space: dict[str, Any]
) -> Iterator[tuple[dict[Size, int], tuple[str, ...], Shapes]]:
    """Yield sizes with which weights can be made, what randomness then comes from, and the shapes of the weights."""
    named = {s: USUAL[_said(maker.sizes, table)[s]] for s in maker.sizes if _said(maker.sizes, table).get(s)}
    silent = [s for s in maker.sizes if s not in named]
    falling = dict(zip(silent, (*DESCENDING, *[2] * KNOBS), strict=False))
    every = dict(zip(maker.sizes, (*DESCENDING, *[2] * KNOBS), strict=False))
    own = {s: s.value for s in maker.sizes if s.value}
    ways: list[dict[Size, int]] = [{**named, **dict.fromkeys(silent, 8)}, {**named, **falling}, every]
    if len(own) == len(maker.sizes) and max(own.values()) <= MOST:
        ways.insert(0, own)
    ways.append(dict(zip(maker.sizes, reversed(DESCENDING[: len(maker.sizes)]), strict=False)))
    for values, random in product(ways, product(*maker.others.values())):
        shapes = _shapes(maker, values, random, space)
        if shapes and len(values) == len(maker.sizes):
            yield values, random, shapes


def _shapes(maker: Maker, values: Mapping[Size, int], random: Sequence[str], space: dict[str, Any]) -> Shapes | None:
    """Return the shapes of the weights that come of some sizes; None where that fails, or none come."""
    text = maker.text({s: str(v) for s, v in values.items()}, random)
    try:
        made = attempt(partial(eval, text, dict(space)))
        return {name: tuple(x.shape) for name, x in leaves_of(made)} or None
    except (Failed, TypeError, AttributeError):
        return None


@dataclass(frozen=True)
class Effect:
    """What another value of a size does: whether weights are there besides, and which axes of which weights change."""

    more: bool
    axes: Mapping[str, tuple[int, ...]]


def _effect(
    maker: Maker, size: Size, values: Mapping[Size, int], random: Sequence[str], shapes: Shapes, space: dict[str, Any]
) -> Effect:
    others = (_shapes(maker, {**values, size: values[size] * n}, random, space) for n in (2, 3))
    there = next((found for found in others if found is not None), shapes)
    axes = {
        name: tuple(i for i, (a, b) in enumerate(zip(shape, there[name], strict=False)) if a != b)
        for name, shape in shapes.items()
        if there.get(name, shape) != shape
    }
    return Effect(bool(set(there) ^ set(shapes)), axes)


def _counts(effect: Effect) -> bool:
    """Return whether a size is a number of layers: more of them are more weights of the same shapes."""
    return effect.more and not effect.axes


# -- roles


def _said(sizes: Sequence[Size], table: Meanings) -> dict[Size, str]:
    """Return what the names of sizes say, where one has more than a letter; such as are told apart differ."""
    words = [s.name for s in sizes if len(s.name) > 1]
    told = entry_texts(words, {m: (m,) for m in table if table[m] and m in USUAL})
    return {s: said for s in sizes if (said := told.get(s.name))}


def _roles(
    maker: Maker, effects: Mapping[Size, Effect], shapes: Shapes, table: Meanings, told: set[str]
) -> Iterator[dict[Size, str]]:
    """Yield what each size may be, the likeliest first."""
    found = _said(maker.sizes, table)
    for size, effect in effects.items():
        if size not in found and _counts(effect) and "layers" in table:
            found[size] = "layers"
    open_ends = [s for s in maker.sizes if s not in found and effects[s].axes]
    silent = [s for s in maker.sizes if s not in found and not effects[s].axes and not effects[s].more]
    for known in _with_width(found, open_ends, effects):
        left = [s for s in open_ends if s not in known]
        for roles in _of_parts(left, effects, shapes, {*known.values()} | told, table):
            every = {**known, **roles}
            if "heads" in table and silent and "heads" not in {*every.values()} | told:
                every[silent[0]] = "heads"
            yield {s: role for s, role in every.items() if table.get(role)}


def _with_width(
    found: Mapping[Size, str], left: Sequence[Size], effects: Mapping[Size, Effect]
) -> Iterator[dict[Size, str]]:
    """Yield what is known with the width of the model: what changes most, and in doubt what is called as it is."""
    if "embed" in found.values() or not left:
        yield dict(found)
        return
    most = max(len(effects[s].axes) for s in left)
    wide = sorted(left, key=lambda s: (s.name.lower() not in NAMED_SO, -len(effects[s].axes)))
    for size in [s for s in wide if 2 * len(effects[s].axes) > most]:
        yield {**found, size: "embed"}


def _of_parts(
    left: Sequence[Size], effects: Mapping[Size, Effect], shapes: Shapes, known: set[str], table: Meanings
) -> Iterator[dict[Size, str]]:
    """Yield what the sizes are that change some of the weights: of tables, of a network, of attention."""
    found: dict[Size, str] = {}
    attending = [s for s in left if "heads" in table and _attends(s, left, effects)]
    for size in (s for s in left if s not in attending):
        rows = all(axes == (0,) for axes in effects[size].axes.values())
        tables = [m for m in ("vocab", "max_len") if m in table and m not in known | set(found.values())]
        hidden = "hidden" in table and "hidden" not in known | set(found.values())
        if hidden and not (rows and tables and len(effects[size].axes) == 1):
            found[size] = "hidden"
        elif rows and tables:
            found[size] = tables[0]
    yield from ({**found, **heads} for heads in _of_heads(attending, effects, known))


def _attends(size: Size, left: Sequence[Size], effects: Mapping[Size, Effect]) -> bool:
    """Return whether a size is one of attention: it changes what is called so, or together with another size."""
    own = set(effects[size].axes)
    named = any({"q", "k", "v"} & set(roles_of(name)) for name in own)
    return named or any(own & set(effects[other].axes) for other in left if other is not size)


def _of_heads(sizes: Sequence[Size], effects: Mapping[Size, Effect], known: set[str]) -> Iterator[dict[Size, str]]:
    """Yield which sizes are numbers of heads and which is the width of one: that changes all that the others do."""
    wanted = [m for m in ("head_dim", "heads", "kv_heads") if m not in known]
    if len(sizes) == 1:
        several = any(len(axes) > 1 for axes in effects[sizes[0]].axes.values())  # more of them are narrower
        order = ["heads", "head_dim"] if several else ["head_dim", "heads"]
        yield from ({sizes[0]: role} for role in order if role in wanted)
        return
    widest = sorted(sizes, key=lambda s: (-len(effects[s].axes), s.name.lower() not in ("h", "k", "e")))
    for width in [s for s in widest if len(effects[s].axes) == len(effects[widest[0]].axes)]:
        rest = [s for s in sizes if s is not width]
        others = sorted(rest, key=lambda s: not any("q" in roles_of(n) for n in effects[s].axes))
        yield {width: "head_dim", **dict(zip(others, ("heads", "kv_heads"), strict=False))}
    if not sizes:
        yield {}
