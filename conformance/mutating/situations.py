"""Situations: ways to run one binding's code on what ``inputs`` draws, over any module that may be the changed one.

Some go through the binding, as a check does; others call the class itself, as it was seen to be called, with every
option of its constructor and of the call, in training and in evaluation, on parameters of our own.
"""

import ast
import copy
import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.conformance.inference.building import space_for
from attnconf.conformance.inference.trial import names
from attnconf.conformance.mutating.drawing import Calling, Numbers, Setting
from attnconf.conformance.mutating.inputs import settings

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
    return [*answer, ("dtype in float32", _dtypes_in_single(bound, setting, calling, module))]


def _dtypes_in_single(bound: Bound, setting: Setting, calling: Calling, module: ModuleType) -> str:
    """Return the dtypes of the outputs of a call in float32, or that it raises: numbers are compared in float64."""

    made: dict[int, Tensor] = {}

    def single(x: Any) -> Any:
        return made.setdefault(id(x), x.float()) if isinstance(x, Tensor) and x.is_floating_point() else x

    config = replace(setting.config, dtype=torch.float32) if hasattr(setting.config, "dtype") else setting.config
    args, kwargs = [single(x) for x in calling.args], {name: single(x) for name, x in calling.kwargs.items()}
    try:
        forward = _built(bound, config, {name: w.float() for name, w in setting.weights.items()}, module)
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


# -- the class itself


def _of_the_class(bound: Bound, setting: Setting, module: ModuleType) -> Iterator[Situation]:
    """Yield calls of a class of PyTorch's kind as the binding makes them, with other options too."""
    kind = getattr(module, bound.name, None)
    text = _constructor(bound)
    if text is None or not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        return
    calls = _recorded(bound, setting, module, kind)
    for made in _variants(text, module):
        for calling in calls:
            for other in [calling, *(_other_calls(kind, calling) if made == text else ())]:
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
    for node in ast.walk(ast.parse(bound.body)):
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
        words = ", ".join([*map(_named, kept.args), *(f"{name}={_named(x)}" for name, x in kept.kwargs.items())])
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


def _named(x: Any) -> str:
    if isinstance(x, Tensor):
        return f"{str(x.dtype).removeprefix('torch.')}{tuple(x.shape)}"
    return repr(x) if isinstance(x, bool | int | float | str | None) else type(x).__name__


def _variants(text: str, module: ModuleType) -> list[str]:
    """Return constructors: the binding's own, and with each option of each class in it turned, or left out."""
    tree = ast.parse(text, mode="eval")
    found = [text]
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        kind = _class_of(call, module)
        if kind is None:
            continue
        before = list(call.keywords)
        for name, value in _options(kind):
            others = [k for k in before if k.arg != name]
            for given in ([ast.keyword(name, ast.Constant(value))], []):
                call.keywords = others + given
                found.append(ast.unparse(tree))
        call.keywords = before
    return list(dict.fromkeys(found))


def _class_of(call: ast.Call, module: ModuleType) -> Any:
    words = ast.unparse(call.func)
    kind = getattr(module, words.removeprefix("theirs."), None) if words.startswith("theirs.") else None
    return kind if isinstance(kind, type) else None


def _options(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the options of a class or function with another value than their default."""
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):
        return
    for p in parameters:
        if isinstance(p.default, bool):
            yield from ((p.name, value) for value in (True, False))
        elif isinstance(p.default, float) and "drop" in p.name:
            yield p.name, 0.4
        elif isinstance(p.default, float):
            yield p.name, p.default * 3
        elif isinstance(p.default, int):
            yield p.name, p.default + 1
        elif p.default is None:
            yield from ((p.name, value) for value in (2, 0.3))


def _other_calls(kind: Any, calling: Calling) -> Iterator[Calling]:
    """Yield a call with each option that it leaves out: flags, numbers, masks, positions."""
    x = next((a for a in calling.args if isinstance(a, Tensor)), None)
    length = x.shape[-2] if x is not None and x.ndim > 1 else 4
    draw = Numbers(3)
    values = (
        draw.kept(length, length), torch.arange(length) + 2, 3, 0.7,
        torch.zeros(length, length, dtype=torch.float64).masked_fill(~draw.kept(length, length), float("-inf")),
    )  # fmt: skip
    for name, value in _call_options(kind, calling):
        for one in values if value is None else (value,):
            yield Calling(
                f"{calling.words}, {name}={_named(one)}", calling.args, {**calling.kwargs, name: copy.copy(one)}
            )


def _call_options(kind: Any, calling: Calling) -> Iterator[tuple[str, Any]]:
    parameters = list(inspect.signature(kind.forward).parameters.values())[1 + len(calling.args) :]
    for p in parameters:
        if p.name in calling.kwargs or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if isinstance(p.default, bool):
            yield p.name, not p.default
        elif p.default is None:
            yield p.name, None
        elif isinstance(p.default, int | float):
            yield p.name, p.default + 1
