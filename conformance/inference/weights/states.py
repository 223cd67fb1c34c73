"""Which parameters of an attention module get which weights: layouts that agree with what was read, as text."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, zip_longest

import torch
from torch import Tensor

from attnconf.conformance.inference.trials.budgets import LAYOUTS, ORDERS
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.weights.naming import by_name, roles_of
from attnconf.conformance.inference.weights.reading import NOWHERE, Layout, Read, Sizes, fitting, indices, layouts, read
from attnconf.conformance.inference.weights.structures import shared

MATRICES = 12  # of which some may be those of queries and keys
CANONICAL = ("q", "k", "v", "out")
# What people call the parameters: which of several that look alike is tried first.
NAMED = {
    "q": r"q|query|queries|wq|to_?q\w*",
    "k": r"k|key|keys|wk|to_?k\w*",
    "v": r"v|value|values|wv|to_?v\w*",
}


@dataclass(frozen=True)
class Weighing:
    """One way in which the parameters may be the weights: entries of a dict, and the biases that are not there."""

    state: tuple[str, ...]
    lacking: tuple[str, ...]
    mistake: str = ""  # the known mistake with which they are that
    exchangeable: bool = False  # nothing but the result says which are the queries' and which the keys'


@dataclass(frozen=True)
class Group:
    """Parameters that belong together: one, or one for each head."""

    names: tuple[str, ...]
    kind: str  # weight or bias
    known: tuple[Tensor, ...]

    @property
    def per_head(self) -> bool:
        return len(self.names) > 1

    @property
    def unread(self) -> bool:
        return all(bool((k == NOWHERE).all()) for k in self.known)

    @property
    def key(self) -> str:
        """The name in the text, of one for each head with {h} in it."""
        if not self.per_head:
            return self.names[0]
        one, other = (name.split(".") for name in self.names[:2])
        return ".".join(a.removesuffix("0") + "{h}" if a != b else a for a, b in zip(one, other, strict=True))

    @property
    def owner(self) -> str:
        """The name without what tells a weight from a bias: they belong together."""
        said = re.split(r"[._]", self.key.lower())
        words = [w for w in said if w not in ("w", "a", "b", "weight", "bias", "weights", "kernel")]
        if not words and len(said) > 1:  # a module whose name is such a letter
            words = said[:-1]
        return ".".join(re.sub(r"^[wb](?=[qkvo]$)", "", w) for w in words)


Fits = Mapping[str, Sequence[Layout]]  # by a group's key: the layouts that agree with what was read of it


def weighings(
    output: Callable[[Mapping[str, Tensor]], Tensor], parameters: Mapping[str, Tensor], x: Tensor, sizes: Sizes,
    one_head: bool,
) -> Iterator[Weighing]:  # fmt: skip
    """Yield what the parameters may be, the likeliest first: what their names say, then what is read."""
    named = by_name(parameters, sizes)
    if named:
        there = {role for name in parameters if parameters[name].ndim == 1 for role in roles_of(name)}
        yield Weighing(tuple(f'"{name}": {text}' for name, text in named.items()), _without(there))
        turned = {name: f"{text}.T" if parameters[name].ndim > 1 else text for name, text in named.items()}
        if not any(_upright(parameters[name]) for name in named):
            yield Weighing(tuple(f'"{name}": {text}' for name, text in turned.items()), _without(there))
    try:
        found = read(output, parameters, x, sizes)
    except (Failed, RuntimeError, IndexError, ValueError):
        found = Read({name: torch.full_like(p, NOWHERE, dtype=torch.long) for name, p in parameters.items()}, True)
    groups = list(_groups(found, sizes))
    fixed, unread = [g for g in groups if not g.unread], [g for g in groups if g.unread]
    fits = {g.key: _options(g, sizes) for g in groups}
    choices = [[(g, layout) for layout in fits[g.key][:LAYOUTS]] for g in fixed if fits[g.key]]
    weights = [g for g in unread if g.kind == "weight" and g.key]
    seen = set()
    orders = [list(_picks([*choices, *a])) for a in _assignments(fixed, weights, unread, sizes, fits)]
    likely = [one for together in zip_longest(*orders) for one in together if one is not None]  # roles first
    for chosen in [*likely, *(one for each in likely for one in _applied_nowhere(each))]:
        state = tuple(_entry(group, layout, one_head and not found.has_out) for group, layout in chosen)
        if state in seen:
            continue
        seen.add(state)
        lacking = _lacking(chosen, one_head and not found.has_out)
        yield Weighing(state, lacking, exchangeable=not all(_says(*one) for one in chosen))
    for few in shared(parameters, sizes):
        yield Weighing(few.state, few.lacking, few.mistake)
    if not choices and not weights:
        yield Weighing((), tuple(f"{n}.bias" for n in CANONICAL))


def _applied_nowhere(chosen: list[tuple[Group, Layout]]) -> Iterator[list[tuple[Group, Layout]]]:
    """Yield the choice without biases that were not read, where no value's bias is added: perhaps none is."""
    rest = [(group, layout) for group, layout in chosen if not (group.kind == "bias" and group.unread)]
    biased = any(group.kind == "bias" and "v" in layout.roles for group, layout in chosen)
    if len(rest) < len(chosen) and not biased:
        yield rest


def _upright(parameter: Tensor) -> bool:
    """Return whether a parameter holds two or three square weights one below the other: these are not transposed."""
    return parameter.ndim == 2 and parameter.shape[0] in (2 * parameter.shape[1], 3 * parameter.shape[1])


def _picks(choices: Sequence[Sequence[tuple[Group, Layout]]]) -> Iterator[list[tuple[Group, Layout]]]:
    """Yield one layout for each parameter: all first choices, then the second ones together where there are some."""
    for i in range(max((len(c) for c in choices), default=0)):
        yield [c[min(i, len(c) - 1)] for c in choices]


def _groups(found: Read, sizes: Sizes) -> Iterator[Group]:
    """Yield the parameters, those of the heads together."""
    done: set[str] = set()
    for name, known in found.known.items():
        if name in done:
            continue
        family = _family(name, list(found.known), sizes.heads)
        if len(family) > 1 and len({found.known[n].shape for n in family}) == 1:
            done |= set(family)
            size, known_all = known.numel(), tuple(found.known[n] for n in family)
            kind = "bias" if size in (sizes.head_dim, 2 * sizes.head_dim, 3 * sizes.head_dim) else "weight"
            yield Group(tuple(family), kind, known_all)
        else:
            done.add(name)
            small = known.numel() in {sizes.width, 2 * sizes.width, 3 * sizes.width, sizes.out}
            yield Group((name,), "bias" if small else "weight", (known,))


def _family(name: str, names: Sequence[str], heads: int) -> list[str]:
    """Return the names that differ from this one by the number of a head."""
    parts = name.split(".")
    for i, part in enumerate(parts):
        if re.fullmatch(r"\D*0", part) and heads > 1:
            of_head = (".".join([*parts[:i], f"{part[:-1]}{h}", *parts[i + 1 :]]) for h in range(heads + 1))
            *family, more = of_head
            if all(n in names for n in family) and more not in names:
                return family
    return [name]


def _roles(group: Group, sizes: Sizes) -> list[tuple[str, ...]]:
    """Return which weights may be in a group, by its size and by what was read."""
    numbered = indices(sizes)
    whole = sum(k.numel() for k in group.known)
    if group.kind == "weight":
        one, out = sizes.width * sizes.embed, sizes.out * sizes.width
    else:
        one, out = sizes.width, sizes.out
    read_here = torch.cat([k.flatten() for k in group.known])
    has = {n: bool(torch.isin(read_here, numbered[f"{n}.{group.kind}"]).any()) for n in ("v", "out")}
    if has["out"] and whole == out:
        return [("out",)]
    if has["v"]:
        two: list[tuple[str, ...]] = [("k", "v"), ("q", "v")]
        sizes_of: dict[int, list[tuple[str, ...]]] = {one: [("v",)], 2 * one: two, 3 * one: [("q", "k", "v")]}
        return sizes_of.get(whole, [])
    unread: dict[int, list[tuple[str, ...]]] = {one: [("q",), ("k",)], 2 * one: [("q", "k")]}
    return unread.get(whole, []) if group.unread else []


def _options(group: Group, sizes: Sizes) -> list[Layout]:
    """Return the layouts of a group that agree with what was read of it, in all heads."""
    found: list[Layout] = []
    for roles in _roles(group, sizes):
        fits: list[Layout] | None = None
        for h, known in enumerate(group.known):
            here = fitting(
                known,
                layouts(roles, group.kind, group.per_head, pairs=True),
                group.kind,
                sizes,
                h if group.per_head else None,
            )
            fits = here if fits is None else [layout for layout in fits if layout in here]
        found += fits or []
    return found


def _assignments(
    fixed: Sequence[Group], weights: Sequence[Group], unread: Sequence[Group], sizes: Sizes, fits: Fits
) -> Iterator[list[list[tuple[Group, Layout]]]]:
    """Yield which of the parameters that could not be read are queries, which keys; they lie as the values do."""
    taken = {role for g in fixed for layout in fits[g.key][:1] for role in layout.roles}
    open_roles = [role for role in ("q", "k") if role not in taken]
    single = [g for g in weights if any(len(r) == 1 for r in _roles(g, sizes))]
    double = [g for g in weights if ("q", "k") in _roles(g, sizes)]
    if not open_roles:
        yield []
        return
    if len(open_roles) == 2 and double:
        for layout in fits[double[0].key]:
            yield [[(double[0], layout)]]
        return
    if not single:  # queries and keys go through the values' projection, or none
        yield []
        return
    if len(single) < len(open_roles):
        for role in open_roles:
            yield from ([[(single[0], layout)]] for layout in _as_values(single[0], role, fixed, fits)[:2])
        return
    orders = sorted(permutations(single[:MATRICES], len(open_roles)), key=lambda order: -_well_named(order, open_roles))
    for order in orders[:ORDERS]:
        options = []
        for group, role in zip(order, open_roles, strict=True):
            options.append([(group, layout) for layout in _as_values(group, role, fixed, fits)])
            for bias in [b for b in unread if b.kind == "bias" and b is not group and _beside(b, group)][:1]:
                options.append([(bias, layout) for layout in _as_values(bias, role, fixed, fits)])
        if all(options):
            yield options


def _beside(bias: Group, group: Group) -> bool:
    """Return whether a bias is that of a weight: of one owner, or of one name in two dicts."""
    (above, _, own), (other, _, its) = bias.key.rpartition("."), group.key.rpartition(".")
    return bias.owner == group.owner or (own == its and "" not in (above, other) and above != other)


def _as_values(group: Group, role: str, fixed: Sequence[Group], fits: Fits) -> list[Layout]:
    """Return the layouts of a group that has one role, first the one in which the values lie."""
    found = [layout for layout in fits[group.key] if layout.roles == (role,)]
    values = [
        layout.text.replace("{v}", f"{{{role}}}")
        for g in fixed if g.kind == group.kind
        for layout in fits[g.key][:1] if layout.roles == ("v",)
    ]  # fmt: skip
    return sorted(found, key=lambda layout: layout.text not in values)[:LAYOUTS]


def _well_named(order: Sequence[Group], roles: Sequence[str]) -> int:
    words = [re.split(r"[._\d]+", group.key.lower()) for group in order]
    return sum(any(re.fullmatch(NAMED[role], w) for w in names) for names, role in zip(words, roles, strict=True))


def _says(group: Group, layout: Layout) -> bool:
    """Return whether a parameter's name says that it is what it is taken for, where that is queries or keys alone."""
    return layout.roles not in (("q",), ("k",)) or bool(_well_named([group], layout.roles)) or \
        layout.roles == tuple(roles_of(group.key))  # fmt: skip


def _entry(group: Group, layout: Layout, absorbed: bool) -> str:
    """Return the entry of the dict of parameters, as text."""
    names = {role: f'weights["{role}.{group.kind}"]' for role in CANONICAL}
    if absorbed:  # one head without an output projection: what that does is done to the values
        names["v"] = '(weights["out.weight"] @ weights["v.weight"])' if group.kind == "weight" else \
            '(weights["out.weight"] @ weights["v.bias"] + weights["out.bias"])'  # fmt: skip
    text = layout.text.format(heads="config.num_heads", **names)
    if group.per_head:
        return f'**{{f"{group.key}": {text} for h in range(config.num_heads)}}'
    return f'"{group.key}": {text}'


def _lacking(chosen: Sequence[tuple[Group, Layout]], absorbed: bool) -> tuple[str, ...]:
    there = {role for group, layout in chosen if group.kind == "bias" for role in layout.roles}
    if absorbed and "v" in there:
        there.add("out")
    return _without(there)


def _without(there: set[str]) -> tuple[str, ...]:
    """Return the biases that are not there."""
    if {"q", "v"} <= there:
        there.add("k")  # whoever leaves it out is right: it has no effect
    return tuple(f"{n}.bias" for n in CANONICAL if n not in there)
