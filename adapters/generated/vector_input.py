"""Models that take ids, or return logits, as functions of vectors: only their layers are judged.

The embedding is called with ids, and its output is replaced by the vectors of the call. Likewise a first projection.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

CALL = "call "
ID = 2  # of all tokens: rarely that of padding


class Handed(nn.Module):
    """A model ``whole`` that takes vectors in place of ids, and puts them in at places within the model.

    ids     argument of ids -> place for its vectors: "input of NAME" or "output of NAME", NAME a part of the model, or
            "call N of NAME": what the Nth call of a function of torch gives, "call 0 of add" the first sum
    out     the place of the result, or "call -1 of NAME": what the last call of a function of torch gives that gives
            vectors; "" for the model's own output
    turned  whether the sequence is the first axis at these places
    raw     how wide the vectors are that the model takes and projects to its own width, or the shape of a picture, of
            patches or of sound that it takes, without that of the batch, -1 for its width; 0: it takes ids
    back    whether the sequence is the first axis of what the model returns, and of nothing else

    A number in NAME counts from the end where it is negative. Raises NotImplementedError where there is no such part.
    """

    def __init__(
        self, whole: nn.Module, ids: Mapping[str, str], out: str = "", turned: bool = False,
        raw: int | tuple[int, ...] = 0, back: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.back = back
        self.whole, self.ids, self.turned, self.out, self.raw = whole, dict(ids), turned, out, raw
        self.vectors: dict[str, Tensor] = {}
        self.taken: Tensor | None = None
        self.calls = {at: argument for argument, at in ids.items() if at.startswith(CALL)}
        for place in dict.fromkeys(at for at in ids.values() if not at.startswith(CALL)):
            part = part_of(whole, place)
            arguments = [argument for argument, at in ids.items() if at == place]
            if place.startswith("input"):
                part.register_forward_pre_hook(partial(_hand, self, arguments), with_kwargs=True)
            else:
                part.register_forward_hook(partial(_give, self, arguments))
        if out.startswith("input"):
            part_of(whole, out).register_forward_pre_hook(partial(_take_input, self), with_kwargs=True)
        elif out and not out.startswith(CALL):
            part_of(whole, out).register_forward_hook(partial(_take_output, self))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(self.whole.forward).bind(*args, **kwargs)
        for argument in self.ids:
            vectors = given.arguments[argument]
            given.arguments[argument] = self._embedded(vectors)
            self.vectors[argument] = self._turn(vectors)
        try:
            watches = self.calls or self.out.startswith(CALL)
            with Calls(partial(_give_after, self)) if watches else nullcontext():
                result = self._called(given)
            if self.back:
                return result.transpose(0, 1)
            return result if self.taken is None else self._turn(self.taken)
        finally:
            self.vectors, self.taken = {}, None

    def _called(self, given: inspect.BoundArguments) -> Any:
        """Return what the model returns; nothing where what is behind the result fails: a head may count tokens."""
        try:
            return self.whole(*given.args, **given.kwargs)
        except Exception:
            if self.taken is None or self.out.startswith(CALL):
                raise
            return None

    def _embedded(self, vectors: Tensor) -> Tensor:
        """Return what the model is called with in place of vectors: ids, pictures, or vectors that it projects."""
        if isinstance(self.raw, tuple):
            sizes = [vectors.shape[-1] if size < 0 else size for size in self.raw]
            return vectors.new_zeros(len(vectors), *sizes)
        if self.raw:
            return vectors.new_zeros(*vectors.shape[:2], self.raw)
        return torch.full(vectors.shape[:2], ID, device=vectors.device)

    def _turn(self, x: Tensor) -> Tensor:
        return x.transpose(0, 1) if self.turned else x


class Calls(TorchFunctionMode):
    """Numbers the calls of each function of torch, and returns what ``then`` makes of the name and result of each."""

    def __init__(self, then: Callable[[str, Any], Any]) -> None:
        super().__init__()
        self.then, self.counts = then, Counter[str]()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result, name = func(*args, **(kwargs or {})), getattr(func, "__name__", "")
        self.counts[name] += 1
        return self.then(f"{CALL}{self.counts[name] - 1} of {name}", result)


def part_of(whole: nn.Module, place: str) -> nn.Module:
    """Return the part of a model that a place is at."""
    part: Any = whole
    name = place.partition(" of ")[2]
    for step in name.split("."):
        try:
            part = part[int(step)] if step.startswith("-") else part.get_submodule(step)
        except (AttributeError, IndexError):
            raise NotImplementedError(f"a model without {name}, where its vectors were found") from None
    return part  # type: ignore[no-any-return]  # a container of modules has no other items


def _hand(model: Handed, arguments: Sequence[str], part: nn.Module, args: Any, kwargs: Any) -> Any:
    """Replace the first input that has vectors for tokens, once: a part may be called again, as another layer.

    The same tensor may be handed over several times, as queries, keys and values.
    """
    leaves, form = tree_flatten((args, kwargs))
    old = next((x for x in leaves if _vectors(x)), None)
    new = None if old is None else _next(model, arguments)
    return None if new is None else tree_unflatten([new if x is old else x for x in leaves], form)


def _give(model: Handed, arguments: Sequence[str], part: nn.Module, args: Any, output: Any) -> Any:
    return _next(model, arguments) if _vectors(output) else None


def _give_after(model: Handed, call: str, result: Any) -> Any:
    given = _next(model, [model.calls[call]]) if call in model.calls and _vectors(result) else None
    result = result if given is None else given
    if model.out.startswith(CALL) and _vectors(result) and function_of(call) == function_of(model.out):
        model.taken = result
    return result


def function_of(call: str) -> str:
    """Return the name of the function of a call, "add" of "call 0 of add"."""
    return call.partition(" of ")[2]


def _next(model: Handed, arguments: Sequence[str]) -> Tensor | None:
    """Return the vectors of the first argument that waits at a place: source and target may go through one part."""
    waiting = next((argument for argument in arguments if argument in model.vectors), None)
    return None if waiting is None else model.vectors.pop(waiting)


def _take_input(model: Handed, part: nn.Module, args: Any, kwargs: Any) -> None:
    model.taken = next((x for x in tree_leaves((args, kwargs)) if _vectors(x)), None)


def _take_output(model: Handed, part: nn.Module, args: Any, output: Any) -> None:
    model.taken = next((x for x in tree_leaves(output) if _vectors(x)), None)


def _vectors(x: Any) -> bool:
    return isinstance(x, Tensor) and x.ndim == 3 and x.is_floating_point()
