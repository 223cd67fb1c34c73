"""Models that take ids or give no vectors: where their layers begin and end, found by watching a call."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.handing import ID, Handed
from attnconf.conformance.inference.calling import Form, Slot
from attnconf.conformance.inference.construction import Construction, names_read
from attnconf.conformance.inference.layer_requests import FIRST
from attnconf.conformance.inference.probing import Failed, attempt, found_output
from attnconf.conformance.inference.structures import ATTENDS, WHOLE
from attnconf.conformance.inference.trial import drawn

WIDTH = FIRST.H * FIRST.E
B, L, S = 2, 3, 7


@dataclass
class Seen:
    """A sub-module that was called: what it got and gave, by shape."""

    name: str
    takes: tuple[int, ...] | None
    gives: tuple[int, ...] | None = None
    attends: bool = False


def handed(made: Construction, module: nn.Module, form: Form, component: str) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that it takes and gives vectors; the same where it does already."""
    if component not in ("encoder", "decoder") or not any(isinstance(m, nn.Embedding) for m in module.modules()):
        return made, module
    ids = next(slot for slot in form.slots if slot.role == "x")
    asks = _asks_for_ids(module, form)
    seen, result = _watched(module, form, ids if asks else None)
    words = _first(seen, ids.name, module, form) if asks else {}
    if found_output(result, (B, L, WIDTH)) is None:
        words |= _last(seen)
    if not words:
        return made, module
    text = f"handed({made.text}, {', '.join(f'{name}={value!r}' for name, value in words.items())})"
    return replace(made, text=text), Handed(module, **words)


def _given(form: Form, ids: Slot | None, token: int = ID) -> Callable[[Slot], Any]:
    """Return what the slots of a form get: ids for one of them, vectors for other inputs, nothing for masks."""
    vectors = {"x": drawn("x", B, L, WIDTH), "memory": drawn("memory", B, S, WIDTH)}

    def what(slot: Slot) -> Any:
        if slot is ids:
            return torch.full((B, L), token)
        return vectors.get(slot.role)

    return what


def _call(module: nn.Module, form: Form, what: Callable[[Slot], Any]) -> Any:
    given = {slot.name: what(slot) for slot in form.slots if slot.required or what(slot) is not None}
    return attempt(lambda: module.double().eval()(**given))


def _asks_for_ids(module: nn.Module, form: Form) -> bool:
    """Return whether a call with vectors fails for want of whole numbers."""
    try:
        _call(copy.deepcopy(module), form, _given(form, None))
    except Failed as error:
        return any(word in str(error) for word in ("indices", "Long", "embedding", "index"))
    return False


def _watched(module: nn.Module, form: Form, ids: Slot | None) -> tuple[list[Seen], Any]:
    """Return which sub-modules a call calls, in the order of their beginnings, and what comes back. Raises Failed."""
    module, seen = copy.deepcopy(module), list[Seen]()

    def watch(name: str, part: nn.Module) -> None:
        open_: list[Seen] = []

        def before(_: Any, args: Any, kwargs: Any) -> None:
            open_.append(Seen(name, _shape((args, kwargs)), attends=_attends(part)))
            seen.append(open_[-1])

        def after(_: Any, args: Any, output: Any) -> None:
            open_.pop().gives = _shape(output)

        part.register_forward_pre_hook(before, with_kwargs=True)
        part.register_forward_hook(after)

    for name, part in module.named_modules():
        if name:
            watch(name, part)
    result = _call(module, form, _given(form, ids))
    return seen, result


def _shape(tree: Any) -> tuple[int, ...] | None:
    """Return the shape of the first tensor that has vectors for tokens."""
    for x in tree_leaves(tree):
        if isinstance(x, Tensor) and x.is_floating_point() and tuple(x.shape) in ((B, L, WIDTH), (L, B, WIDTH)):
            return tuple(x.shape)
    return None


def _attends(part: nn.Module) -> bool:
    return any({type(m).__name__} & (WHOLE | ATTENDS) or names_read(type(m)) & ATTENDS for m in part.modules())


def _first(seen: list[Seen], ids: str, module: nn.Module, form: Form) -> dict[str, Any]:
    """Return where the layers begin: where vectors can be handed such that no id matters any more. Raises Failed."""
    at = next((i for i, s in enumerate(seen) if s.attends and s.takes), None)
    if at is None:
        raise Failed("where its layers begin is not found")
    before = [s for s in seen[:at] if s.gives]
    points = [{"at": seen[at].name}, *({"at": s.name, "after": True} for s in before[-1:])]
    for point, shape in zip(points, (seen[at].takes, *(s.gives for s in before[-1:])), strict=True):
        words = {"ids": ids, **point} | ({"turned": True} if shape == (L, B, WIDTH) else {})
        if _deaf(Handed(copy.deepcopy(module), **words), form):
            return words
    raise Failed("what it embeds cannot be replaced by vectors")


def _deaf(model: Handed, form: Form) -> bool:
    """Return whether the table of what is embedded changes nothing."""
    first = _output(_call(model, form, _given(form, None)))
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, nn.Embedding):
                part.weight += 1 + torch.arange(part.weight.shape[1]) % 3
    return torch.allclose(first, _output(_call(model, form, _given(form, None))))


def _output(result: Any) -> Tensor:
    return next(x for x in tree_leaves(result) if isinstance(x, Tensor) and x.is_floating_point())


def _last(seen: list[Seen]) -> dict[str, Any]:
    """Return the last part that was given, or gave, vectors for all tokens: what comes behind it is no layer's."""
    for one in reversed(seen):
        inside = any(o.attends and o.name.startswith(f"{one.name}.") for o in seen) and not one.gives
        if (one.takes or one.gives) and not inside:
            return {"last": one.name, **({"output": True} if one.gives else {})}
    raise Failed("no vectors come out of its layers")
