"""Models that take ids, or return logits, as functions of vectors: only their layers are judged.

The embedding is called with ids, and its output is replaced by the vectors of the call.
"""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

ID = 2  # of all tokens: rarely that of padding


class Handed(nn.Module):
    """A model ``whole`` that takes vectors in place of ids, and puts them in at places within the model.

    ids     argument of ids -> place for its vectors: "input of NAME" or "output of NAME", NAME a part of the model
    out     the place of the result; "" for the model's own output
    turned  whether the sequence is the first axis at these places
    """

    def __init__(self, whole: nn.Module, ids: Mapping[str, str], out: str = "", turned: bool = False) -> None:
        super().__init__()
        self.whole, self.ids, self.turned, self.out = whole, dict(ids), turned, out
        self.vectors: dict[str, Tensor] = {}
        self.taken: Tensor | None = None
        for argument, place in ids.items():
            part = whole.get_submodule(_part(place))
            if place.startswith("input"):
                part.register_forward_pre_hook(partial(_hand, self, argument), with_kwargs=True)
            else:
                part.register_forward_hook(partial(_give, self, argument))
        if out.startswith("input"):
            whole.get_submodule(_part(out)).register_forward_pre_hook(partial(_take_input, self), with_kwargs=True)
        elif out:
            whole.get_submodule(_part(out)).register_forward_hook(partial(_take_output, self))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(self.whole.forward).bind(*args, **kwargs)
        for argument in self.ids:
            vectors = given.arguments[argument]
            given.arguments[argument] = torch.full(vectors.shape[:2], ID, device=vectors.device)
            self.vectors[argument] = self._turn(vectors)
        try:
            result = self.whole(*given.args, **given.kwargs)
            return result if self.taken is None else self._turn(self.taken)
        finally:
            self.vectors, self.taken = {}, None

    def _turn(self, x: Tensor) -> Tensor:
        return x.transpose(0, 1) if self.turned else x


def _part(place: str) -> str:
    return place.partition(" of ")[2]


def _hand(model: Handed, argument: str, part: nn.Module, args: Any, kwargs: Any) -> Any:
    """Replace the first input that has vectors for tokens, once: a part may be called again, as another layer."""
    leaves, form = tree_flatten((args, kwargs))
    at = next((i for i, x in enumerate(leaves) if _vectors(x)), None)
    if argument not in model.vectors or at is None:
        return None
    leaves[at] = model.vectors.pop(argument)
    return tree_unflatten(leaves, form)


def _give(model: Handed, argument: str, part: nn.Module, args: Any, output: Any) -> Any:
    return model.vectors.pop(argument) if argument in model.vectors and _vectors(output) else None


def _take_input(model: Handed, part: nn.Module, args: Any, kwargs: Any) -> None:
    model.taken = next((x for x in tree_leaves((args, kwargs)) if _vectors(x)), None)


def _take_output(model: Handed, part: nn.Module, args: Any, output: Any) -> None:
    model.taken = next((x for x in tree_leaves(output) if _vectors(x)), None)


def _vectors(x: Any) -> bool:
    return isinstance(x, Tensor) and x.ndim == 3 and x.is_floating_point()
