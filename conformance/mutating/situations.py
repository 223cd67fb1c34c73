"""Situations: ways to run one binding's code on what ``inputs`` draws, over any module that may be the changed one.

Some go through the binding, as a check does; others call the class itself, as it was seen to be called, with every
option of its constructor and of the call, in training and in evaluation, on parameters of our own.
"""

import ast
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.building.building import space_for
from attnconf.conformance.mutating.drawing import Calling, Numbers, Setting
from attnconf.conformance.mutating.inputs import settings
from attnconf.conformance.mutating.options import named, other_calls, variants
from attnconf.conformance.source.syntax import tree_of
from attnconf.conformance.worker.bodies import names

Answer = list[tuple[str, Any]]  # places in what came back, and the numbers there
SEEN = 6  # calls of a class, of different shapes, that are made again


@dataclass(frozen=True)
class Bound:
    """A binding as plain data: what it binds, and the text that does."""

    name: str
    component: str
    body: str
    declares: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Situation:
    """Something to run over a module: what is called, in words, and the function that does it."""

    words: str
    run: Callable[[ModuleType], Answer]


def situations(bound: Bound, module: ModuleType) -> Iterator[Situation]:
    """Yield all situations of a binding; ``module``: the original, from which is read how its class is called."""
    for setting in settings(bound.component, dict(bound.declares)):
        for calling in setting.calls:
            words = f"{bound.name} as {setting.words}, {calling.words}"
            yield Situation(words, functools.partial(_through_binding, bound, setting, calling))
        yield from _of_functions(bound, setting, module)
        yield from _of_the_class(bound, setting, module)


def _through_binding(bound: Bound, setting: Setting, calling: Calling, module: ModuleType) -> Answer:
    """Return output and gradients of one call, and of the same call once more."""
    weights = {name: w.clone().requires_grad_() for name, w in setting.weights.items()}
    given = _fresh(calling)
    torch.manual_seed(11)
    forward = _built(bound, setting.config, weights, module)
    first = forward(*given.args, **given.kwargs)
    answer = [*_flat(first, "out"), *_slopes(first, {**weights, **_leaves(given)})]
    again = _fresh(calling)
    with torch.no_grad():
        torch.manual_seed(12)
        answer += _flat(forward(*again.args, **again.kwargs), "out of a second call")
    answer += [*_flat(again.args, "input afterwards"), *_flat(dict(again.kwargs), "input afterwards")]
    kinds = (torch.float32, torch.bfloat16)
    return [*answer, *((f"dtype in {kind}", _dtypes(bound, setting, calling, module, kind)) for kind in kinds)]


def _dtypes(bound: Bound, setting: Setting, calling: Calling, module: ModuleType, kind: torch.dtype) -> str:
    """Return the dtypes of the outputs of a call in another one, or that it raises: numbers are told in float64."""

    made: dict[int, Tensor] = {}

    def cast(x: Any) -> Any:
        return made.setdefault(id(x), x.to(kind)) if isinstance(x, Tensor) and x.is_floating_point() else x

    config = replace(setting.config, dtype=kind) if hasattr(setting.config, "dtype") else setting.config
    args, kwargs = [cast(x) for x in calling.args], {name: cast(x) for name, x in calling.kwargs.items()}
    try:
        forward = _built(bound, config, {name: w.to(kind) for name, w in setting.weights.items()}, module)
        return ", ".join(str(x.dtype) for x in _tensors(forward(*args, **kwargs)))
    except Exception as error:
        return type(error).__name__


def _built(bound: Bound, config: Any, weights: Mapping[str, Tensor], module: ModuleType) -> Any:
    space = names(module)
    exec(compile(bound.body, "<binding>", "exec"), space)
    return space[bound.component](config, dict(weights))


def _fresh(calling: Calling) -> Calling:
    """Return a call with tensors of its own; what was one object is one again, and floats want gradients."""
    made: dict[int, Tensor] = {}

    def own(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if id(x) not in made:
            made[id(x)] = x.detach().clone().requires_grad_(x.is_floating_point() and torch.is_grad_enabled())
        return made[id(x)]

    return Calling(calling.words, tuple(map(own, calling.args)), {name: own(x) for name, x in calling.kwargs.items()})


def _leaves(calling: Calling) -> dict[str, Tensor]:
    given = {**{f"argument {i}": x for i, x in enumerate(calling.args)}, **calling.kwargs}
    return {name: x for name, x in given.items() if isinstance(x, Tensor) and x.requires_grad}


def _flat(x: Any, at: str) -> Answer:
    """Return the numbers in what came back, with their places."""
    if isinstance(x, Tensor):
        return [(at, x.detach().clone())]
    if isinstance(x, Mapping):
        return [found for key, one in x.items() for found in _flat(one, f"{at}[{key!r}]")]
    if isinstance(x, list | tuple):
        return [(f"{at}, length", len(x)), *(found for i, one in enumerate(x) for found in _flat(one, f"{at}[{i}]"))]
    if type(x).__module__ == "numpy":
        return [(at, torch.as_tensor(x))]
    return [(at, x if isinstance(x, bool | int | float | str | None) else type(x).__name__)]


def _slopes(out: Any, leaves: Mapping[str, Tensor]) -> Answer:
    """Return the gradients of a fixed combination of all outputs, by the names of the leaves."""
    parts = [x for x in _tensors(out) if x.requires_grad and x.is_floating_point()]
    if not parts or not leaves:
        return []
    total = torch.stack([(x * torch.linspace(-1, 1.3, x.numel()).reshape(x.shape)).sum().double() for x in parts]).sum()
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return [(f"gradient of {name}", None if g is None else g) for name, g in zip(leaves, found, strict=True)]


def _tensors(out: Any) -> list[Tensor]:
    if isinstance(out, Tensor):
        return [out]
    inside = out.values() if isinstance(out, Mapping) else out if isinstance(out, list | tuple) else ()
    return [x for one in inside for x in _tensors(one)]


# -- functions, and the class itself


def _of_functions(bound: Bound, setting: Setting, module: ModuleType) -> Iterator[Situation]:
    """Yield calls through the binding in which functions of the file get other options, or go without."""
    for body in variants(bound.body, module, "exec")[1:]:
        other = replace(bound, body=body)
        turned = [line.strip() for line in body.splitlines() if "theirs." in line and line not in bound.body]
        for calling in setting.calls[:2]:
            words = f"{bound.name} as {setting.words}, {calling.words}, by {' '.join(turned)}"
            yield Situation(words, functools.partial(_through_binding, other, setting, calling))


def _of_the_class(bound: Bound, setting: Setting, module: ModuleType) -> Iterator[Situation]:
    """Yield calls of a class of PyTorch's kind as the binding makes them, with other options too."""
    kind = getattr(module, bound.name, None)
    text = _constructor(bound)
    if text is None or not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        return
    calls = _recorded(bound, setting, module, kind)
    for made in variants(text, module):
        for calling in calls:
            for other in [calling, *(other_calls(kind, calling) if made == text else ())]:
                for training in (False, True):
                    mode = "training" if training else "evaluation"
                    words = f"{made.replace('theirs.', '')} on {setting.words}, {other.words}, in {mode}"
                    yield Situation(words, functools.partial(_of_module, made, setting, other, training))


def _of_module(made: str, setting: Setting, calling: Calling, training: bool, module: ModuleType) -> Answer:
    """Return output and gradients of a module with parameters of our own, and its parameters' shapes."""
    torch.manual_seed(13)
    built = eval(made, space_for(setting.config, module, weights=dict(setting.weights)))
    built = built.double().train(training)
    draw, own = Numbers(7), dict(built.named_parameters())
    with torch.no_grad():
        for name, p in own.items():
            if p.requires_grad:
                gain = p.ndim == 1 and ("norm" in name or "gain" in name)
                p.copy_(gain + draw(*p.shape, size=p.shape[-1] ** -0.5 if p.ndim > 1 else 0.5))
    given = _fresh(calling)
    torch.manual_seed(14)
    out = built(*given.args, **given.kwargs)
    leaves = {**{name: p for name, p in own.items() if p.requires_grad}, **_leaves(given)}
    shapes = [(f"parameter {name}, shape", str(tuple(p.shape))) for name, p in own.items()]
    return [*shapes, *_flat(out, "out"), *_slopes(out, leaves)]


def _constructor(bound: Bound) -> str | None:
    """Return the expression in a binding's text that builds its class, or None."""
    for node in ast.walk(tree_of(bound.body)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"theirs.{bound.name}":
            return ast.unparse(node)
    return None


def _recorded(bound: Bound, setting: Setting, module: ModuleType, kind: Any) -> list[Calling]:
    """Return how the class is called by its binding: calls of different shapes, at most SEEN."""
    found: dict[str, Calling] = {}
    original = kind.forward

    @functools.wraps(original)
    def seen(self: Any, *args: Any, **kwargs: Any) -> Any:
        copied = _fresh(Calling("", args, kwargs))
        kept = Calling("", tuple(map(_kept, copied.args)), {name: _kept(x) for name, x in copied.kwargs.items()})
        words = ", ".join([*map(named, kept.args), *(f"{name}={named(x)}" for name, x in kept.kwargs.items())])
        found.setdefault(words, Calling(f"called with ({words})", kept.args, kept.kwargs))
        return original(self, *args, **kwargs)

    kind.forward = seen
    try:
        for calling in setting.calls:
            with warnings.catch_warnings(action="ignore"), torch.no_grad():
                try:
                    _through_binding_once(bound, setting, calling, module)
                except Exception:
                    continue
    finally:
        kind.forward = original
    return list(found.values())[:SEEN]


def _through_binding_once(bound: Bound, setting: Setting, calling: Calling, module: ModuleType) -> None:
    _built(bound, setting.config, setting.weights, module)(*calling.args, **calling.kwargs)


def _kept(x: Any) -> Any:
    return x.detach() if isinstance(x, Tensor) else x
