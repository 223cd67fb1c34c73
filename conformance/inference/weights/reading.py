"""Which parameter of an attention module is what, and how it lies in memory: read off derivatives, never from names.

With one token, attention is W_o (W_v x + b_v) + b_o whatever the scores are, so a mistake in these cannot show. There,

* the output moves with a parameter in one place only: it is in W_o or b_o, and its column is told by the derivative,
* in many places: in W_v or b_v, and its row is told by the column of W_o that the derivative is a multiple of,
* nowhere: in W_q or W_k, which lie as W_v does.

What is read is a map from elements to elements, ``known``; the layouts below are texts that give the same map.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor

from attnconf.conformance.engine.case import draw
from attnconf.conformance.inference.trials.probing import Failed

NOWHERE, UNKNOWN = -1, -2
CLOSE = 1e-6
INPUTS = ("q", "k", "v")


@dataclass(frozen=True)
class Sizes:
    """Of the module that is read: its input, its heads and the width of each, its output."""

    embed: int
    heads: int
    head_dim: int
    out: int

    @property
    def width(self) -> int:
        return self.heads * self.head_dim


def indices(sizes: Sizes) -> dict[str, Tensor]:
    """Return the canonical weights with their elements numbered, all numbers different."""
    shapes = {f"{n}.weight": (sizes.width, sizes.embed) for n in INPUTS} | {f"{n}.bias": (sizes.width,) for n in INPUTS}
    shapes |= {"out.weight": (sizes.out, sizes.width), "out.bias": (sizes.out,)}
    numbered, first = {}, 0
    for name, shape in shapes.items():
        count = torch.Size(shape).numel()
        numbered[name] = torch.arange(first, first + count).reshape(shape)
        first += count
    return numbered


@dataclass
class Read:
    """What is known of each element of each parameter: the number of its canonical element, NOWHERE or UNKNOWN."""

    known: dict[str, Tensor]
    has_out: bool  # there are an input and an output projection


def read(
    run: Callable[[Mapping[str, Tensor]], Tensor], parameters: Mapping[str, Tensor], x: Tensor, sizes: Sizes
) -> Read:
    """Return what one token, ``x`` (embed,), tells of the parameters; ``run`` gives the output, (out,), for some."""
    try:
        slopes = _derivatives(run, parameters)
    except Failed:  # as NumPy does, which has none
        slopes = _differences(run, parameters)
    size = max((float(s.abs().max()) for s in slopes.values()), default=0.0)
    moved = {name: (s.abs() > CLOSE * size).sum(0) for name, s in slopes.items()}
    numbered = indices(sizes)
    if any(bool((m > 1).any()) for m in moved.values()):
        columns = _columns(slopes, moved, parameters)
        known = {name: _element(slopes[name], moved[name], columns, x, numbered) for name in parameters}
    else:
        known = {name: _alone(slopes[name], moved[name], x, numbered) for name in parameters}
    has_out = any(bool((m > 1).any()) for m in moved.values())
    return Read({name: k.reshape(parameters[name].shape) for name, k in known.items()}, has_out)


def _derivatives(run: Callable[[Mapping[str, Tensor]], Tensor], parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the derivative of each output by each element of each parameter, (out, elements)."""
    leaves = {name: p.detach().clone().requires_grad_() for name, p in parameters.items()}
    out = run(leaves).reshape(-1)
    rows = [_gradients(out[i], leaves) for i in range(len(out))]
    return {name: torch.stack([row[name].flatten() for row in rows]) for name in leaves}


def _differences(run: Callable[[Mapping[str, Tensor]], Tensor], parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what the derivatives are of something that is linear in each parameter, as one token's attention is."""
    before = run(parameters).reshape(-1)
    found = {}
    for name, p in parameters.items():
        other = run({**parameters, name: draw(f"another {name}", *p.shape)}).reshape(-1)
        if torch.equal(other, before):  # which saves a call for each element
            found[name] = torch.zeros(len(before), p.numel(), dtype=before.dtype)
            continue
        columns = []
        for at in range(p.numel()):
            moved = p.detach().clone()
            moved.view(-1)[at] += 1
            columns.append(run({**parameters, name: moved}).reshape(-1) - before)
        found[name] = torch.stack(columns, 1)
    return found


def _gradients(scalar: Tensor, leaves: Mapping[str, Tensor]) -> dict[str, Tensor]:
    if not scalar.requires_grad:
        return {name: torch.zeros_like(x) for name, x in leaves.items()}
    found = torch.autograd.grad(scalar, list(leaves.values()), retain_graph=True, allow_unused=True)
    return {n: torch.zeros_like(x) if g is None else g for (n, x), g in zip(leaves.items(), found, strict=True)}


@dataclass(frozen=True)
class Columns:
    """The columns of W_o in the order in which they lie: what each is multiplied with, and the numbers in it."""

    hidden: Tensor  # (W,)
    weights: Tensor  # (W, out)


def _columns(slopes: Mapping[str, Tensor], moved: Mapping[str, Tensor], parameters: Mapping[str, Tensor]) -> Columns:
    hidden: list[float] = []
    weights: list[Tensor] = []
    for name, s in slopes.items():
        for at in (moved[name] == 1).nonzero().flatten().tolist():
            o = int(s[:, at].abs().argmax())
            value = float(s[o, at])
            if abs(value - 1) < CLOSE:  # the bias
                continue
            same = [i for i, h in enumerate(hidden) if abs(h - value) < CLOSE * abs(value)]
            if not same:
                hidden.append(value)
                weights.append(torch.zeros(len(s), dtype=s.dtype))
            weights[same[0] if same else -1][o] = parameters[name].flatten()[at]
    if not hidden:
        return Columns(torch.zeros(0), torch.zeros(0, 0))
    return Columns(torch.tensor(hidden, dtype=weights[0].dtype), torch.stack(weights))


def _element(slope: Tensor, moved: Tensor, columns: Columns, x: Tensor, numbered: Mapping[str, Tensor]) -> Tensor:
    """Return the canonical number of each element of one parameter."""
    found = torch.full((slope.shape[1],), UNKNOWN)
    found[moved == 0] = NOWHERE
    width = numbered["out.weight"].shape[1]
    for at in (moved == 1).nonzero().flatten().tolist():
        o = int(slope[:, at].abs().argmax())
        u = _nearest(columns.hidden, float(slope[o, at]))
        if abs(float(slope[o, at]) - 1) < CLOSE:
            found[at] = numbered["out.bias"][o]
        elif u is not None and u < width:
            found[at] = numbered["out.weight"][o, u]
    many = (moved > 1).nonzero().flatten()
    if len(many) and len(columns.hidden):
        directions = columns.weights / columns.weights.norm(dim=1, keepdim=True)
        cosines = directions @ (slope[:, many] / slope[:, many].norm(dim=0))
        for at, u in zip(many.tolist(), cosines.abs().argmax(0).tolist(), strict=True):
            if u >= width:
                continue
            ratio = float(slope[:, at] @ columns.weights[u] / columns.weights[u].square().sum())
            e = _nearest(x, ratio)
            if abs(ratio - 1) < CLOSE:
                found[at] = numbered["v.bias"][u]
            elif e is not None:
                found[at] = numbered["v.weight"][u, e]
    return found


def _alone(slope: Tensor, moved: Tensor, x: Tensor, numbered: Mapping[str, Tensor]) -> Tensor:
    """Return the canonical numbers where there is one projection on the way, which is taken for that of the values."""
    found = torch.full((slope.shape[1],), UNKNOWN)
    found[moved == 0] = NOWHERE
    for at in (moved == 1).nonzero().flatten().tolist():
        u = int(slope[:, at].abs().argmax())
        e = _nearest(x, float(slope[u, at]))
        if u < len(numbered["v.bias"]):
            if abs(float(slope[u, at]) - 1) < CLOSE:
                found[at] = numbered["v.bias"][u]
            elif e is not None:
                found[at] = numbered["v.weight"][u, e]
    return found


def _nearest(values: Tensor, value: float) -> int | None:
    if not len(values):
        return None
    at = int((values - value).abs().argmin())
    return at if abs(float(values[at]) - value) < CLOSE * max(1.0, abs(value)) else None


# -- layouts: texts that say how canonical weights make up a parameter


@dataclass(frozen=True)
class Layout:
    """How a parameter lies: ``roles`` are the canonical weights in it, ``text`` an expression of ``w[name]``."""

    roles: tuple[str, ...]
    text: str  # of {q}, {k}, {v}, {out}, and {heads}
    reshaped: bool = False


def layouts(roles: Sequence[str], kind: str, per_head: bool, pairs: bool = False) -> Iterator[Layout]:
    """Yield the ways in which weights (or biases, by ``kind``) of some roles may lie in one parameter.

    ``pairs``: also with keys and values head by head behind queries that come from elsewhere.
    """
    if len(roles) == 1:
        yield from _single(roles[0], kind, per_head)
        return
    for order in permutations(roles):
        names = [f"{{{role}}}" for role in order]
        if per_head:
            one = [f"{name}.unflatten(0, ({{heads}}, -1))[h]" for name in names]
            yield Layout(order, f"torch.cat([{', '.join(one)}])")
            if kind == "weight":
                yield Layout(order, f"torch.cat([{', '.join(one)}]).T")
            continue
        listed = ", ".join(names)
        yield Layout(order, f"torch.cat([{listed}])")
        stacked = f"torch.stack([{listed}]).unflatten(1, ({{heads}}, -1))"
        if kind == "weight":
            yield Layout(order, f"torch.cat([{listed}]).T")
            for axes in permutations(range(4)):
                yield Layout(order, f"{stacked}.permute{axes}", reshaped=True)
        else:
            for axes in permutations(range(3)):
                yield Layout(order, f"{stacked}.permute{axes}", reshaped=True)
        if pairs and len(order) == 3:
            kept, *others = names
            two = f"torch.stack([{', '.join(others)}]).unflatten(1, ({{heads}}, -1)).transpose(0, 1).flatten(0, 2)"
            yield Layout(order, f"torch.cat([{kept}, {two}])")


def _single(role: str, kind: str, per_head: bool) -> Iterator[Layout]:
    name = f"{{{role}}}"
    if per_head:
        if role == "out":
            yield Layout((role,), f"{name}.unflatten(1, ({{heads}}, -1))[:, h]")
            yield Layout((role,), f"{name}.unflatten(1, ({{heads}}, -1))[:, h].T")
            return
        one = f"{name}.unflatten(0, ({{heads}}, -1))[h]"
        yield Layout((role,), one)
        if kind == "weight":
            yield Layout((role,), f"{one}.T")
        return
    yield Layout((role,), name)
    if kind == "weight":
        yield Layout((role,), f"{name}.T")
        rows = f"{name}.T" if role == "out" else name
        for axes in permutations(range(3)):
            yield Layout((role,), f"{rows}.unflatten(0, ({{heads}}, -1)).permute{axes}", reshaped=True)
    elif role != "out":
        for axes in permutations(range(2)):
            yield Layout((role,), f"{name}.unflatten(0, ({{heads}}, -1)).permute{axes}", reshaped=True)


def _are_other_axes(there: Tensor, known: Tensor) -> bool:
    """Return whether something has as many axes, but for those of size 1, of other sizes: their order is another."""
    one, other = ([n for n in x.shape if n > 1] for x in (there, known))
    return len(one) == len(other) and one != other


def fitting(known: Tensor, candidates: Iterator[Layout], kind: str, sizes: Sizes, head: int | None) -> list[Layout]:
    """Return the layouts that agree with all that is known of a parameter."""
    numbered = indices(sizes)
    free = torch.zeros(sum(x.numel() for x in numbered.values()), dtype=torch.bool)  # what could not be read
    for name in ("q", "k"):
        free[numbered[f"{name}.{kind}"]] = True
    found = []
    for layout in candidates:
        given = {role: numbered[f"{role}.{kind}"] for role in layout.roles}
        texts = {role: f"given[{role!r}]" for role in layout.roles}
        space = {"given": given, "torch": torch, "h": head}
        try:
            there = eval(layout.text.format(heads=sizes.heads, **texts), space)
            if layout.reshaped and _are_other_axes(there, known):
                continue
            there = there.reshape(known.shape) if layout.reshaped else there
        except (RuntimeError, IndexError):
            continue
        if there.shape != known.shape:
            continue
        if bool(((there == known) | ((known == NOWHERE) & free[there])).all()):
            found.append(layout)
    return found
