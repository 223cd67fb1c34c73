"""Multi-query attention: projections of one head for keys and values, told by what they do to one token.

What does nothing to one token is queries' or keys', and its size says which; what does something is values' or the
output's. Where several lie in one parameter, the values' part is the one that does something.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product

import torch
from torch import Tensor

from attnconf.conformance.inference.texts.attention_parts import NOTHING, Seen
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import same_numbers
from attnconf.conformance.inference.weights.states import Weighing

ONE = ("kv-heads", "one")
BIASES = ("q", "k", "v", "out")


@dataclass
class Entries:
    """What has been found: the texts that each parameter may be, and which weights and biases these hold."""

    texts: list[list[str]] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    biases: list[str] = field(default_factory=list)


def multi_query(seen: Seen) -> Iterator[Weighing]:
    """Yield what parameters may be where keys and values have one head; nothing where they do not fit that."""
    width, one, embed = seen.sizes.width, seen.sizes.head_dim, seen.sizes.embed
    if seen.sizes.heads == 1 or embed in (one, 2 * one):
        return
    found = Entries()
    try:
        for name, p in seen.parameters.items():
            kind = "weight" if p.numel() >= one * embed else "bias"
            rows = p.numel() // embed if kind == "weight" else p.numel()
            texts = _texts(seen, name, kind, rows, found) if rows in (one, 2 * one, width, width + 2 * one) else []
            if not texts or (kind == "weight" and p.numel() % embed):
                return
            found.texts.append(texts)
    except (Failed, RuntimeError):
        return
    if sorted(found.weights) != ["k", "out", "q", "v"] or len(set(found.biases)) < len(found.biases):
        return
    there = {*found.biases, "k"} if {"q", "v"} <= set(found.biases) else set(found.biases)
    lacking = tuple(f"{name}.bias" for name in BIASES if name not in there)
    for state in product(*found.texts):
        yield Weighing(state, lacking)


def _texts(seen: Seen, name: str, kind: str, rows: int, found: Entries) -> list[str]:
    """Return the entries that a parameter may have, and note what it holds."""
    slope = seen.slope(name)
    slope = torch.where(slope.abs() > NOTHING, slope, 0.0)
    held = found.weights if kind == "weight" else found.biases
    one, width = seen.sizes.head_dim, seen.sizes.width
    acts = bool(slope.any())
    if rows == one:
        held += ["v" if acts else "k"]
    elif rows == width:
        held += ["out" if acts else "q"]
    else:
        both = ("k", "v") if rows == 2 * one else ("q", "k", "v")
        held += both
        return [f'"{name}": {text}' for text in _joined(both, kind, slope, seen)][:1]
    text = f'"{name}": weights["{held[-1]}.{kind}"]'
    if kind == "bias":
        return [text]
    if held[-1] == "out":
        return [text + ("" if _upright(slope, seen) else ".T")]
    shape = seen.parameters[name].shape
    turned = (False, True) if shape[0] == shape[-1] else (shape[0] == seen.sizes.embed,)
    return [text + ".T" * one for one in turned]


def _upright(slope: Tensor, seen: Seen) -> bool:
    """Return whether the rows of a projection are what comes out: in one direction all rows move alike."""
    rows = slope.reshape(seen.sizes.out, -1) / torch.linspace(1, 2, seen.sizes.out, dtype=slope.dtype)[:, None]
    return same_numbers(rows, rows[:1].expand_as(rows))


def _joined(roles: tuple[str, ...], kind: str, slope: Tensor, seen: Seen) -> Iterator[str]:
    """Yield the texts of several projections in one parameter whose values lie where they do something."""
    rows = {"q": seen.sizes.width, "k": seen.sizes.head_dim, "v": seen.sizes.head_dim}
    columns = (seen.sizes.embed,) if kind == "weight" else ()
    marked = {role: torch.full((rows[role], *columns), float(role == "v")) for role in roles}
    for text in _layouts(roles, kind):
        given: Mapping[str, Tensor] = {f"{role}.{kind}": x for role, x in marked.items()}
        there = eval(text, {"weights": given, "torch": torch})
        if there.numel() == slope.numel() and torch.equal(there.flatten() != 0, slope.flatten() != 0):
            yield text


def _layouts(roles: tuple[str, ...], kind: str) -> Iterator[str]:
    for order in permutations(roles):
        listed = ", ".join(f'weights["{role}.{kind}"]' for role in order)
        yield f"torch.cat([{listed}])"
        if kind == "weight":
            yield f"torch.cat([{listed}]).T"
            if len(order) == 2:
                yield from (f"torch.stack([{listed}]).permute{axes}" for axes in permutations(range(3)))
