"""What the parameters of a layer or model are made of: attentions, networks, norms and tables, in the order of use."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import count
from math import prod

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.texts.used_in_turns import one_after_another

UNMADE = nn.parameter.UninitializedParameter
_BIAS = r"(.*[._])?(b|bias|beta|shift|offset|b_?\d)"
_GAIN = r"(.*[._])?((\w*norm|ln|rms)_?\d?|\w*(norm|ln|rms)\d?_?(w|weight|scale|gain|gamma|g))"
_NORM = r"gain|gamma|beta|shift|scale|norm|ln|g\d?$"


@dataclass(frozen=True)
class Widths:
    """Of the model, of one head, of the network's hidden features, and the number of ids."""

    embed: int
    head: int
    hidden: int
    vocab: int = 0


@dataclass(frozen=True)
class Unit:
    """Parameters that are one attention, one network, one norm or one table."""

    kind: str
    names: tuple[str, ...]

    @property
    def owner(self) -> str:
        """The path of the innermost module that holds all of them."""
        paths = [name.split(".")[:-1] for name in self.names]
        common = []
        for parts in zip(*paths, strict=False):
            if len(set(parts)) > 1:
                break
            common.append(parts[0])
        return ".".join(common)


@dataclass
class Units:
    """All units of a module, in the order of use; ``kinds`` says in which order the kinds come."""

    attentions: list[Unit] = field(default_factory=list)
    networks: list[Unit] = field(default_factory=list)
    norms: list[Unit] = field(default_factory=list)
    tables: list[Unit] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    scales: list[str] = field(default_factory=list)  # factors on what sublayers add, which are no units


def hidden_width(shapes: Mapping[str, Sequence[int]], embed: int, given: int) -> int:
    """Return the width of the hidden features: the one that was given where it is there, else what is paired."""
    sizes = [tuple(n for n in shape if n != 1) for shape in shapes.values()]
    pairs = [s for s in sizes if len(s) == 2 and embed in s]
    others = [s[0] if s[1] == embed else s[1] for s in pairs]
    if given in others:
        return given
    for s in pairs:
        if s[0] == embed and s[1] > embed and (s[1], s[0]) in pairs:
            return s[1]
    return given


def units_of(module: nn.Module, order: Sequence[str], widths: Widths) -> Units:
    """Return the units of a module whose parameters are used in this order."""
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    vectors = {name: p for name, p in module.named_parameters() if not isinstance(p, UNMADE) and p.ndim == 1}
    gains = {name for name, p in vectors.items() if bool((p == 1).all()) or _of_one_plus(name, p)}
    kinds = _kinds(order, shapes, widths, gains)
    sizes = {n: prod(shapes[n]) * _is_matrix(shapes[n], widths) for n in order if kinds[n] == "attention"}
    order = list(one_after_another(order, sizes, 4 * widths.embed**2))
    blocks = _blocks(sizes, 4 * widths.embed**2)
    found = Units()
    open_: dict[str, list[str]] = {"attention": [], "network": []}

    def close(kind: str) -> None:
        if open_[kind]:
            unit = Unit(kind, tuple(open_[kind]))
            (found.attentions if kind == "attention" else found.networks).append(unit)
            open_[kind] = []

    last = ""
    for name in _together(order, kinds, gains):
        kind = kinds[name]
        if kind in open_:
            matrix = open_[kind] and _is_matrix(shapes[name], widths)
            elsewhere = matrix and kind == "attention" and blocks.get(name) != blocks.get(open_[kind][-1])
            if last != kind or elsewhere or (matrix and _full(kind, open_[kind], shapes, widths)):
                close(kind)
                found.kinds.append(kind)
            open_[kind].append(name)
        elif kind == "norm":
            if found.norms and last == "norm" and _of_one_norm(found.norms[-1], name, gains):
                found.norms[-1] = Unit("norm", (*found.norms[-1].names, name))
            else:
                found.norms.append(Unit("norm", (name,)))
                found.kinds.append("norm")
        elif kind == "table":
            found.tables.append(Unit("table", (name,)))
        else:
            found.others.append(name)
        if kind != "table":
            for other in open_:
                if other != kind:
                    close(other)
        last = kind
    close("attention")
    close("network")
    found.attentions, early = _whole(found.attentions, shapes, widths)
    opened = count()
    found.kinds = [kind for kind in found.kinds if kind != "attention" or next(opened) not in early]
    return found


def _of_one_plus(name: str, p: Tensor) -> bool:
    """Return whether a vector may be the gain of a norm that adds 1 to it: by its name, and as it begins with zeros."""
    return bool((p == 0).all()) and "." not in name and re.fullmatch(_GAIN, name) is not None


def _blocks(sizes: Mapping[str, int], whole: int) -> dict[str, str]:
    """Return the numbered module, the outermost, of each parameter of an attention, where it holds a ``whole`` one."""
    of = {name: found[0] for name in sizes if (found := re.match(r"(.*?\.)?\d+(?=\.)", name))}
    inside = Counter[str]()
    for name, block in of.items():
        inside[block] += sizes[name]
    return {name: block for name, block in of.items() if inside[block] >= whole}


def _whole(
    attentions: Sequence[Unit], shapes: Mapping[str, Sequence[int]], widths: Widths
) -> tuple[list[Unit], set[int]]:
    """Return the attentions, of which those of one module are one that together have no more than one has.

    And which of those that were given are but the beginning of one.

    What a memory gives may be computed before anything else is, and stands apart from the queries then: an attention
    stands where the last of it is used.
    """
    found: dict[int, Unit] = {}
    early = set[int]()
    for at, unit in enumerate(attentions):
        for i, other in found.items():
            both = Unit("attention", (*other.names, *unit.names))
            size = sum(prod(shapes[name]) for name in both.names if _is_matrix(shapes[name], widths))
            owner = min(unit.owner, other.owner, key=len)  # one projection alone has an owner of its own
            inside = all(f"{one.owner}.".startswith(f"{owner}.") for one in (unit, other))
            if owner and inside and size <= 4 * widths.embed**2:
                del found[i]
                early.add(i)
                unit = both
                break
        found[at] = unit
    return list(found.values()), early


def _of_one_norm(norm: Unit, name: str, gains: Collection[str]) -> bool:
    """Return whether a parameter is the second one of a norm: two that begin with ones are gains of two norms."""
    return norm.owner == name.rpartition(".")[0] and len(norm.names) == 1 and not {*norm.names, name} <= set(gains)


def _together(order: Sequence[str], kinds: Mapping[str, str], gains: Set[str]) -> Iterator[str]:
    """Yield the names with those of one module, a weight and its bias, one after the other, at the first of them.

    Two ``gains`` are no such pair: a layer may hold those of its norms itself.
    """
    members: dict[str, list[str]] = {}
    for name in order:
        members.setdefault(name.rpartition(".")[0], []).append(name)
    done: set[str] = set()
    for name in order:
        owner = name.rpartition(".")[0]
        pair = owner and len(members[owner]) <= 2 and not {*members[owner]} <= gains
        for other in members[owner] if pair else (name,):
            if kinds[other] == kinds[name] and other not in done:
                done.add(other)
                yield other


def _full(kind: str, names: Sequence[str], shapes: Mapping[str, Sequence[int]], widths: Widths) -> bool:
    """Return whether these are all matrices that one attention, or one network, has."""
    sizes = [prod(shapes[name]) for name in names if _is_matrix(shapes[name], widths)]
    whole = 4 * widths.embed**2 if kind == "attention" else 3 * widths.embed * widths.hidden
    return sum(sizes) >= whole


def _is_matrix(shape: Sequence[int], widths: Widths) -> bool:
    return prod(shape) >= widths.embed * widths.head and sum(size > 1 for size in shape) > 1


def _kinds(
    order: Sequence[str], shapes: Mapping[str, Sequence[int]], widths: Widths, gains: Collection[str]
) -> dict[str, str]:
    """Return the kind of each parameter, by its size and by what else its module holds; ``gains`` begin with ones."""
    E, F, d, V = widths.embed, widths.hidden, widths.head, widths.vocab
    network = {E * F, 2 * E * F}
    attention = {E * E, 2 * E * E, 3 * E * E, 4 * E * E, E * d, 2 * E * d, 3 * E * d}
    kinds = {}
    for name in order:
        n = prod(shapes[name]) if sum(size > 1 for size in shapes[name]) > 1 else 0
        kinds[name] = ("vector" if not n else "table" if V and n == V * E else "network" if n in network else
                       "attention" if n in attention else "vector")  # fmt: skip
    for i, name in enumerate(order):
        if kinds[name] == "vector":
            gain = name in gains or re.search(_NORM, name.rpartition(".")[2]) is not None
            shifts = i > 1 and kinds[order[i - 1]] == "norm" != kinds[order[i - 2]]  # behind a gain
            kinds[name] = _of_vector(name, gain or shifts, order[:i], shapes, kinds, widths)
    return kinds


def _of_vector(
    name: str, normal: bool, before: Sequence[str], shapes: Mapping[str, Sequence[int]], kinds: Mapping[str, str],
    w: Widths,
) -> str:  # fmt: skip
    owner, n = name.rpartition(".")[0], prod(shapes[name])
    if n not in {w.embed, w.hidden, 2 * w.hidden, 2 * w.embed, 3 * w.embed, w.head, 3 * w.head, 2 * w.head}:
        return "other" if n != w.vocab else "table bias"
    if n in (w.hidden, 2 * w.hidden):
        return "network"
    beside = {kinds[o] for o in kinds if o.rpartition(".")[0] == owner and kinds[o] in ("attention", "network")}
    if not beside:
        return "norm" if n == w.embed else "other"
    if len(beside) == 1 and not normal:
        return beside.pop()
    if n != w.embed:
        return "attention"
    if normal:
        return "norm"
    behind = [kinds[o] for o in before if kinds[o] in ("attention", "network")]
    return behind[-1] if behind else "norm"


# -- entries of the state: which parameter is which of ours


def norm_entries(unit: Unit, parameters: Mapping[str, Tensor]) -> dict[str, str]:
    """Return which of ours a norm's parameters are, by their names: a gain begins with ones, a shift with zeros."""
    if len(unit.names) == 1:
        return {unit.names[0]: "weight"}
    one, other = unit.names
    first = bool(parameters[one].detach().float().mean().abs() < parameters[other].detach().float().mean().abs())
    if torch.equal(parameters[one].detach(), parameters[other].detach()):
        first = re.fullmatch(_BIAS, one) is not None
    return {one: "bias", other: "weight"} if first else {one: "weight", other: "bias"}


def network_entries(
    unit: Unit, shapes: Mapping[str, Sequence[int]], widths: Widths
) -> Iterator[dict[str, tuple[str, tuple[str, ...]]]]:
    """Yield, by the names of a network's parameters, an expression of ours: (a pattern, the names that it needs)."""
    E, F = widths.embed, widths.hidden
    matrices = [name for name in unit.names if prod(shapes[name]) in (E * F, 2 * E * F)]
    fused = [name for name in matrices if prod(shapes[name]) == 2 * E * F]
    roles: list[tuple[tuple[str, ...], ...]]
    if fused:
        roles = [(("gate", "up"), ("down",)), (("up", "gate"), ("down",))]
    elif len(matrices) >= 3:
        roles = [(("gate",), ("up",), ("down",)), (("up",), ("gate",), ("down",))]
    else:
        roles = [(("up",), ("down",))]
    for each in roles:
        found: dict[str, tuple[str, tuple[str, ...]]] = {}
        for name, parts in zip(matrices, each, strict=False):
            shape = tuple(n for n in shapes[name] if n != 1)
            turned = shape[0] == E if parts != ("down",) else shape[0] != E
            found[name] = (_joined(parts, ".T" if turned else ""), tuple(f"{part}.weight" for part in parts))
            bias = _bias_of(name, unit, shapes, parts, E, F)
            if bias and bias not in found:
                found[bias] = (_joined(parts, ""), tuple(f"{part}.bias" for part in parts))
        yield found


def _joined(parts: Sequence[str], after: str) -> str:
    if len(parts) == 1:
        return f"{{0}}{after}"
    return f"torch.cat([{', '.join(f'{{{i}}}' for i in range(len(parts)))}]){after}"


def _bias_of(
    matrix: str, unit: Unit, shapes: Mapping[str, Sequence[int]], parts: Sequence[str], E: int, F: int
) -> str | None:
    """Return the bias that goes with a matrix: of its size, in its module, else the first after it."""
    size = E if parts == ("down",) or list(parts) == ["down"] else F * len(parts)
    fits = [n for n in unit.names if prod(shapes[n]) == size]
    owner = matrix.rpartition(".")[0]
    near = [n for n in fits if n.rpartition(".")[0] == owner]
    later = [n for n in near if unit.names.index(n) > unit.names.index(matrix)]
    return next(iter(later or near), None)
