"""Parts of attention with weights of their own beside the four projections, seen by what they do to a few tokens.

With one token attention is W_o (W_v x + b_v) + b_o. A sink takes away from that what a logit says, up to all of it; a
sigmoid gate g halves it at 0, and σ(g) + σ(-g) = 1; a table of biases and the gains of norms leave it alone, but gains
of 0 make all scores 0. Each part has a value with which one token does not notice it: given that, the projections are
read as those of plain attention.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

import torch
from torch import Tensor

from attnconf.conformance.inference.texts.attention_text import Normed
from attnconf.conformance.inference.texts.gate_layouts import Lies, bias_entry, gate_entry
from attnconf.conformance.inference.texts.offset_tables import (
    entry_of,
    idle_tables,
    sized_as_offsets,
    tables_of_offsets,
)
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import drawn, same_numbers
from attnconf.conformance.inference.weights.reading import Sizes

Parameters = Mapping[str, Tensor]
BUCKETS = 32
OPEN, SHUT = 60.0, -60.0  # logits whose sigmoids are 1, and next to 0
NOTHING = 1e-9  # of what comes out otherwise, which is about 1
NEVER = -1e30  # the logit of a sink that takes nothing
# What a part is called that does not do what it should: by its name alone it is taken for what it says.
SINK = r"(.*[._])?(att(entio)?n_?)?(sinks?|senke|puits|sumidero|sumidouro|pozzo|zlew)(_?(logits?|token|weights?))?"
GATE = (
    r"(.*[._])?(w_?|o(ut(put)?)?_?)?(gat(e|es|ing)|tor|porte|puerta|compuerta|porta|bramka)(_?(proj\w*|w|linear))?"
    r"([._]weight)?"
)


@dataclass(frozen=True)
class Parts:
    """The parts of one class: what declares them, their entries, and values with which one token is plain attention."""

    family: tuple[tuple[str, str], ...] = ()
    inside: Mapping[str, str] = field(default_factory=dict)
    state: tuple[str, ...] = ()
    idle: Parameters = field(default_factory=dict)
    normed: Normed | None = None
    holds: tuple[str, ...] = ()  # weights of the queries' projection that lie in a parameter of these

    def and_(self, other: "Parts") -> "Parts":
        return Parts(
            (*self.family, *other.family), {**self.inside, **other.inside}, (*self.state, *other.state),
            {**self.idle, **other.idle}, self.normed or other.normed, (*self.holds, *other.holds),
        )  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """A class that is called with tokens: ``run`` gives its output, ``x`` (embed,) is one token."""

    run: Callable[[Parameters, Tensor], Tensor]
    parameters: Parameters
    x: Tensor
    sizes: Sizes
    idle: Parameters = field(default_factory=dict)  # parameters that are of no interest

    def resting(self, idle: Parameters) -> "Seen":
        """Return the same without some parameters, which have one value from here on."""
        rest = {name: p for name, p in self.parameters.items() if name not in idle}
        return replace(self, parameters=rest, idle={**self.idle, **idle})

    def out(self, changed: Parameters, tokens: Tensor | None = None) -> Tensor:
        """Return what comes out of some tokens, or of the one, with other values of some parameters."""
        return self.run({**self.parameters, **self.idle, **changed}, self.x[None] if tokens is None else tokens)

    def all(self, name: str, value: float) -> dict[str, Tensor]:
        return {name: torch.full_like(self.parameters[name], value)}

    def silent(self, changed: Parameters) -> bool:
        """Return whether nothing of a token comes through, beside what does otherwise."""
        moved = self.out(changed) - self.out(changed, 2 - 3 * self.x[None])
        return float(moved.abs().max()) <= NOTHING * float(self.out({}).abs().max())

    def slope(self, name: str) -> Tensor:
        """Return the derivative of what comes out, in one direction, by a parameter."""
        p = {**self.parameters, **self.idle}[name].detach().clone().requires_grad_()
        out = self.out({name: p}).flatten()
        (found,) = torch.autograd.grad(out @ torch.linspace(1, 2, len(out), dtype=out.dtype), [p])
        return found


def parts_of(seen: Seen, made: str = "") -> Parts | None:
    """Return what parts a class has; None where its parameters are those of four projections, or nothing is seen.

    ``made``: the text that builds it.
    """
    if not _more_than_projections(seen):
        return None
    try:
        found = _sink(seen)
        found = found.and_(_gate(seen.resting(found.idle)))
        found = found.and_(_table(seen)).and_(_offsets(seen, made)).and_(_gains(seen))
    except (Failed, RuntimeError, IndexError, ValueError):
        return None
    return found if found.idle else None


def _more_than_projections(seen: Seen) -> bool:
    wide = 3 * seen.sizes.width
    matrices = sum(p.numel() for p in seen.parameters.values() if p.numel() > wide)
    small = any(p.numel() == seen.sizes.heads for p in seen.parameters.values())
    more = matrices != 4 * seen.sizes.width * seen.sizes.embed or bool(_rows(seen)) or bool(sized_as_offsets(seen))
    return more or (small and seen.sizes.heads > 1)


def _sink(seen: Seen) -> Parts:
    """Return the sink: a logit for each head, of which a large one takes all weight."""
    for name, p in seen.parameters.items():
        if p.numel() != seen.sizes.heads or seen.sizes.heads == 1:
            continue
        takes = seen.silent(seen.all(name, OPEN)) and not _of_a_gate(seen, name)
        if takes or re.fullmatch(SINK, name.lower()):
            idle = seen.all(name, NEVER)
            if seen.silent(idle):  # what it takes goes to a value
                idle = seen.all(name, OPEN)
            return Parts((("sinks", "learned"),), {}, (f'"{name}": weights["sinks"]',), idle)
    return Parts()


# -- gates


def _of_a_gate(seen: Seen, name: str) -> bool:
    """Return whether a number for each head is added to a product with the token: a gate's bias, and no sink."""
    heads, embed = seen.sizes.heads, seen.sizes.embed
    for other, p in seen.parameters.items():
        if p.numel() == heads * embed:
            gate = Lies(other, "heads", heads, False)
            with contextlib.suppress(Failed):
                along, _ = gate_entry(gate, seen.slope(other), seen.x, heads)
                return same_numbers(along, seen.slope(name).flatten())
    return False


def _gate(seen: Seen) -> Parts:
    """Return the gate: of features or of heads, with a bias or none, alone or in one with the queries' projection."""
    if seen.silent({}):
        return Parts()
    shuts = [name for name in seen.parameters if _shuts(seen, name)]
    biases = {name: torch.zeros_like(seen.parameters[name]) for name in shuts}
    seen = seen.resting(biases)
    width, heads, embed = seen.sizes.width, seen.sizes.heads, seen.sizes.embed
    kinds = {width: "features"} | ({heads: "heads"} if heads > 1 else {})
    sized = [Lies(name, kind, rows, p.numel() > rows * embed) for name, p in seen.parameters.items()
             for rows, kind in kinds.items() if p.numel() in (rows * embed, (rows + width) * embed)]  # fmt: skip
    found = next((one for one in sized if _halves(seen, one.name)), None)
    found = found or next((one for one in sized if re.fullmatch(GATE, one.name.lower())), None)
    if found is None:
        return Parts()
    slope, entry = gate_entry(found, seen.slope(found.name), seen.x, heads)
    state = [entry, *(bias_entry(found, name, slope, seen.slope(name), seen.x, heads) for name in shuts)]
    wide = OPEN / float(seen.x.sum())
    wide = -wide if seen.silent(seen.all(found.name, wide)) else wide
    idle = {**seen.all(found.name, wide), **biases}
    holds = ("q.weight", *(["q.bias"] if shuts else [])) if found.fused else ()
    return Parts((("output-gate", found.kind),), {}, tuple(state), idle, None, holds)


def _shuts(seen: Seen, name: str) -> bool:
    """Return whether a row of numbers is the bias of a gate: far from 0 it lets nothing through."""
    width, heads, size = seen.sizes.width, seen.sizes.heads, seen.parameters[name].numel()
    sized = size in (width, heads, 2 * width, width + heads)
    return sized and any(seen.silent(seen.all(name, far)) for far in (SHUT, OPEN))


def _halves(seen: Seen, name: str) -> bool:
    """Return whether a parameter is a gate's: σ(g) and σ(-g) make a whole, of which σ(0) is half, and not nothing."""
    p = seen.parameters[name]
    none, one, other = (seen.out({name: value}) for value in (torch.zeros_like(p), p, -p))
    whole = same_numbers(one + other, 2 * none) and not same_numbers(one, other)
    return whole and not seen.silent({name: torch.zeros_like(p)})


# -- what one token does not notice


def _table(seen: Seen) -> Parts:
    """Return the table of relative biases: a number for each head in each of 32 buckets."""
    for name, p in seen.parameters.items():
        if p.numel() == BUCKETS * seen.sizes.heads and same_numbers(seen.out(seen.all(name, 9.0)), seen.out({})):
            text = 'weights["relative.weight"]' + ("" if p.shape[0] == BUCKETS else ".T")
            return Parts((), {"positions-inside": "relative-bias"}, (f'"{name}": {text}',), seen.all(name, 0.0))
    return Parts()


def _offsets(seen: Seen, made: str) -> Parts:
    """Return the tables of vectors of offsets, of keys and perhaps of values."""
    tables = tables_of_offsets(seen)
    if not tables:
        return Parts()
    inside = {"positions-inside": "shaw"} | ({"relative-values": "yes"} if "values" in tables else {})
    state = tuple(entry_of(seen, role, name, made) for role, name in tables.items())
    return Parts((), inside, state, idle_tables(seen, tables))


def _rows(seen: Seen) -> list[tuple[str, str]]:
    """Return pairs of rows of numbers, as long as one head or all, that are called no biases."""
    long = (seen.sizes.head_dim, seen.sizes.width)
    rows = [n for n, p in seen.parameters.items() if p.numel() in long and not re.search(r"bias|(^|[._])b(_|$)", n)]
    return [(a, b) for a, b in combinations(rows, 2) if seen.parameters[a].numel() == seen.parameters[b].numel()]


def _gains(seen: Seen) -> Parts:
    """Return the gains of norms of queries and of keys: where either is 0, all scores are."""
    tokens = drawn("gains", 4, seen.sizes.embed)
    for a, b in _rows(seen):
        one, other = seen.all(a, 0.0), seen.all(b, 0.0)
        even = seen.out({**one, **other}, tokens)
        alike = all(same_numbers(seen.out(each, tokens), even) for each in (one, other))
        if alike and not same_numbers(seen.out({}, tokens), even):
            over = "head" if seen.parameters[a].numel() == seen.sizes.head_dim else "width"
            owners = (a.rpartition(".")[0], b.rpartition(".")[0])
            state = (f'"{a}": weights["q_norm.weight"]', f'"{b}": weights["k_norm.weight"]')
            ones = {**seen.all(a, 1.0), **seen.all(b, 1.0)}
            return Parts((), {}, state, ones, Normed("rms", over, "before", owners))
    return Parts()
