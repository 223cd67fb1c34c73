"""The weights of one attention inside a layer: read where the rest of the layer is silent.

The module that holds the attention is called again with what it was called with, at one token: its norms left out, all
other parameters zero. What comes back is then the attention's output, after the residual where there is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from attnconf.conformance.inference.texts.layer_scales import silent_scales
from attnconf.conformance.inference.texts.layer_trace import Trace, copied
from attnconf.conformance.inference.texts.layer_units import Unit, Units
from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.trials.probing import Failed, attempt, restored
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.weights.naming import role_of
from attnconf.conformance.inference.weights.reading import Read, Sizes, indices, layouts, read
from attnconf.conformance.inference.weights.states import NAMED, Weighing, weighings


def attention_weighings(
    module: nn.Module, parameters: Mapping[str, Tensor], unit: Unit, units: Units, trace: Trace, sizes: Sizes
) -> list[Weighing]:
    """Return what the parameters of an attention may be, by their names within its owner, the likeliest first."""
    owner, found = caller(unit.owner, trace), list[Weighing]()
    for around in _around(owner, trace):  # what it is not called with may be made outside of its call
        try:
            alone = Alone(module, parameters, unit, units, trace, sizes, around)
            read_here = list(alone.weighings())
            found = [*read_here, *found] if alone.values else [*found, *read_here]
        except (Failed, RuntimeError, ValueError, IndexError, AttributeError, StopIteration):
            continue
        if alone.values:
            break
    inside = _inside(owner, parameters)
    own = {name: inside[name] for name in (_relative(n, owner) for n in unit.names)}
    return [*found, *by_names(own, sizes, inputs_first(units, parameters, sizes))]


def inputs_first(units: Units, parameters: Mapping[str, Tensor], sizes: Sizes) -> bool:
    """Return whether matrices have their inputs on the first axis, as the first one of the networks shows."""
    shapes = [parameters[n].shape for unit in units.networks for n in unit.names if parameters[n].ndim == 2]
    return any(shape[0] == sizes.embed for shape in shapes[:1])


def caller(owner: str, trace: Trace) -> str:
    """Return the innermost module around ``owner``, or itself, that is called: a list of modules is not."""
    while owner not in trace.calls and owner:
        owner = owner.rpartition(".")[0]
    return owner


def _around(owner: str, trace: Trace) -> Iterator[str]:
    """Yield a module that is called, and those around it that are."""
    yield owner
    while owner:
        owner = caller(owner.rpartition(".")[0], trace)
        yield owner


def _relative(name: str, owner: str) -> str:
    return name.removeprefix(f"{owner}.") if owner else name


def _inside(owner: str, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {_relative(n, owner): p for n, p in parameters.items() if not owner or n.startswith(f"{owner}.")}


class Alone:
    """One attention with the rest of the module silent that is called, its own or one around that."""

    def __init__(
        self, module: nn.Module, parameters: Mapping[str, Tensor], unit: Unit, units: Units, trace: Trace, sizes: Sizes,
        owner: str,
    ):  # fmt: skip
        self.sizes, self.values = sizes, False  # whether those of values were read
        self.module, self.left_out = module.get_submodule(owner), list[str]()
        inside = _inside(owner, parameters)
        factors = [_relative(n, owner) for n in units.scales]
        self.others = {n: torch.zeros_like(p) for n, p in inside.items()} | silent_scales(factors, inside)
        self.told: dict[str, Tensor] = {}
        for norm in units.norms:
            names = [_relative(n, owner) for n in norm.names if not owner or n.startswith(f"{owner}.")]
            if names and norm.owner not in ("", owner) and norm.owner in trace.calls:
                self.left_out.append(_relative(norm.owner, owner))
                self.others = {n: p for n, p in self.others.items() if n not in names}
            elif names:
                self.told |= self._told(names)
        own = caller(unit.owner, trace)
        self.names = {_relative(name, own): _relative(name, owner) for name in unit.names}
        self.own = {name: inside[n] for name, n in self.names.items()}
        self.args, self.kwargs = trace.calls[owner]

    def _told(self, norm: Sequence[str]) -> dict[str, Tensor]:
        """Return a token for the bias of a norm, by its name; nothing where it has none."""
        fresh = dict(self.module.named_parameters())
        return {n: drawn("told", self.sizes.embed) for n in norm if n in fresh and not bool(fresh[n].any())}

    def run(self, own: Mapping[str, Tensor]) -> Tensor:
        """Return the output, (E,). Raises Failed."""
        named = {self.names[n]: p for n, p in own.items()}
        args, kwargs = copied((self.args, self.kwargs))  # it may write to them
        with restored(self.module):  # no copy of it: a function that it keeps would call the parts of the original
            for name in self.left_out:
                _leave_out(self.module, name)
            given = attempt(lambda: functional_call(self.module, {**self.others, **self.told, **named}, args, kwargs))
        return self._vector(given)

    def _vector(self, given: Any) -> Tensor:
        found = [x for x in tree_leaves(given) if isinstance(x, Tensor) and self._is_token(x)]
        return found[0].reshape(-1)

    def _is_token(self, x: Tensor) -> bool:
        """Return whether something is one token: features are its last axis, or with a convolution the second."""
        return x.numel() == self.sizes.out and self.sizes.out in x.shape and x.is_floating_point()

    def inputs(self) -> list[Tensor]:
        found: list[Tensor] = []
        for x in (*tree_leaves((self.args, self.kwargs)), *self.told.values()):
            if isinstance(x, Tensor) and self._is_token(x) and not any(torch.equal(x.reshape(-1), y) for y in found):
                found.append(x.reshape(-1))
        return found[::-1]

    def weighings(self) -> Iterator[Weighing]:
        zeros = {n: torch.zeros_like(p) for n, p in self.own.items()}
        still = self.run(zeros)

        def output(own: Mapping[str, Tensor]) -> Tensor:
            return self.run(own) - still

        chosen: Tensor | None = None
        for x in self.inputs():
            if not _says(found := read(output, self.own, x, self.sizes)):
                continue
            self.values = self._says_values(found)
            chosen = x if self.values or chosen is None else chosen
            if self.values:  # each reading costs calls
                break
        if chosen is not None:
            yield from weighings(output, self.own, chosen, self.sizes, one_head=False)

    def _says_values(self, found: Read) -> bool:
        numbered = indices(self.sizes)["v.weight"]
        return any(bool(torch.isin(k, numbered).any()) for k in found.known.values())


def _says(found: Read) -> bool:
    return any(bool((k >= 0).any()) for k in found.known.values())


def _leave_out(module: nn.Module, name: str) -> None:
    """Let a norm give what it is given, as another tensor, which may be written to; what looks at it still does."""
    module.get_submodule(name).forward = torch.clone  # undone where all is restored


# -- without a reading


def by_names(own: Mapping[str, Tensor], sizes: Sizes, turned: bool = False) -> Iterator[Weighing]:
    """Yield what parameters may be by their names, else by their order.

    There are four matrices, or three where no output is projected. ``turned``: inputs on the first axis are likelier.
    """
    full = sizes.width * sizes.embed
    matrices = [n for n, p in own.items() if prod(p.shape) == full]
    fused = [n for n, p in own.items() if prod(p.shape) == 3 * full]
    if len(matrices) in (3, 4):
        order = _named_order(matrices)
        each: list[tuple[str, ...]] = [("q",), ("k",), ("v",), ("out",)]
        roles = dict(zip(order, each[: len(matrices)], strict=True))
    elif len(matrices) == 1 and len(fused) == 1:
        roles = {fused[0]: ("q", "k", "v"), matrices[0]: ("out",)}
    else:
        return
    biases = {}
    for name in own:
        matrix = None if name in roles else _matrix_of(name, list(own), roles)
        if matrix and prod(own[name].shape) == len(roles[matrix]) * sizes.width:
            biases[name] = roles[matrix]
    unprojected = ["out"] if len(roles) == 3 else []
    lacking = unprojected + [r for rs in roles.values() for r in rs if not any(r in b for b in biases.values())]
    texts: list[list[str]] = []
    for group, kind in ((roles, "weight"), (biases, "bias")):
        for name, parts in group.items():
            fits = [
                layout
                for layout in layouts(parts, kind, per_head=False)
                if _has_shape(layout, own[name], parts, kind, sizes)
            ]
            if not fits:
                return
            fits = [layout for layout in fits if layout.roles == parts][:FEW]
            fits.sort(key=lambda layout: turned and ".T" not in layout.text)
            names = {r: f'weights["{r}.{kind}"]' for r in ("q", "k", "v", "out")}
            texts.append([f'"{name}": {f.text.format(heads="config.num_heads", **names)}' for f in fits])
    for i in range(max(map(len, texts))):
        yield Weighing(tuple(t[min(i, len(t) - 1)] for t in texts), tuple(f"{r}.bias" for r in lacking))


def _matrix_of(bias: str, order: Sequence[str], roles: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the matrix that a bias is added behind: the one of its module, or of its role, or the last before it."""
    near = [m for m in roles if m.rpartition(".")[0] == bias.rpartition(".")[0]]
    said = [m for m in near if roles[m] == (role_of(bias),)]
    before = [m for m in near if order.index(m) < order.index(bias)]
    return next(iter(near if len(near) == 1 else said or before[-1:]), None)


def _named_order(matrices: Sequence[str]) -> list[str]:
    """Return names as those of query, key, value and output where they say so, else as they come."""
    import re

    found: list[str] = []
    for role in ("q", "k", "v"):
        fits = [
            m
            for m in matrices
            if any(re.fullmatch(rf"({NAMED[role]}|w_?{role}s?|{role}_?\w*)", w.lower()) for w in m.split("."))
        ]
        if len(fits) != 1 or fits[0] in found:
            return list(matrices)
        found.append(fits[0])
    return [*found, *(m for m in matrices if m not in found)]


def _has_shape(layout: Any, p: Tensor, parts: Sequence[str], kind: str, sizes: Sizes) -> bool:
    rows = {"out": sizes.out}
    shapes = {r: (rows.get(r, sizes.width), *((sizes.embed,) if kind == "weight" else ())) for r in parts}
    given = {r: torch.zeros(s) for r, s in shapes.items()}
    try:
        there = eval(
            layout.text.format(heads=sizes.heads, **{r: f"given[{r!r}]" for r in parts}),
            {"given": given, "torch": torch},
        )
    except (RuntimeError, IndexError):
        return False
    return tuple(there.shape) == tuple(p.shape)


__all__ = ["attention_weighings", "by_names", "caller"]
