"""Models that take ids, or give something else than vectors, judged by what is in between: their layers.

Their embedding is called with ids, and what it gives is then replaced by the vectors that are to be judged.
"""

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

ID = 2  # of all tokens: rarely that of padding


class Handed(nn.Module):
    """A model ``whole`` whose argument ``ids`` is given as vectors.

    The part ``at`` is handed them: as its input, or, where ``after``, as its output. The result is the model's; where
    ``last`` is given it is the input of that part, or its output where ``output``. ``turned``: the layers, and what is
    taken out of them, have the sequence as first axis, though the ids do not.
    """

    def __init__(
        self, whole: nn.Module, ids: str = "", at: str = "", after: bool = False, turned: bool = False,
        last: str = "", output: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.whole, self.ids, self.turned = whole, ids, turned
        self.vectors: Tensor | None = None
        self.taken: Any = None
        self.takes = bool(last)
        if at and after:
            whole.get_submodule(at).register_forward_hook(self._give)
        elif at:
            whole.get_submodule(at).register_forward_pre_hook(self._hand, with_kwargs=True)
        if last and output:
            whole.get_submodule(last).register_forward_hook(self._take_output)
        elif last:
            whole.get_submodule(last).register_forward_pre_hook(self._take_input, with_kwargs=True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.ids:
            given = inspect.signature(self.whole.forward).bind(*args, **kwargs)
            vectors = given.arguments[self.ids]
            ids = torch.full(vectors.shape[:2], ID, device=vectors.device)
            given.arguments[self.ids] = ids
            self.vectors = vectors.transpose(0, 1) if self.turned else vectors
            args, kwargs = given.args, given.kwargs
        try:
            result = self.whole(*args, **kwargs)
            if not self.takes:
                return result
            return self.taken.transpose(0, 1) if self.turned else self.taken
        finally:
            self.vectors = self.taken = None

    def _hand(self, part: nn.Module, args: Any, kwargs: Any) -> Any:
        """Replace the first input that has vectors for tokens, once: a part may be called again, by another layer."""
        if self.vectors is None:
            return None
        leaves, form = tree_flatten((args, kwargs))
        at = next((i for i, x in enumerate(leaves) if _vectors(x)), None)
        if at is None:
            return None
        leaves[at], self.vectors = self.vectors, None
        return tree_unflatten(leaves, form)

    def _give(self, part: nn.Module, args: Any, output: Any) -> Any:
        if self.vectors is None or not _vectors(output):
            return None
        given, self.vectors = self.vectors, None
        return given

    def _take_input(self, part: nn.Module, args: Any, kwargs: Any) -> None:
        self.taken = next((x for x in tree_leaves((args, kwargs)) if _vectors(x)), None)

    def _take_output(self, part: nn.Module, args: Any, output: Any) -> None:
        self.taken = next((x for x in tree_leaves(output) if _vectors(x)), None)


def _vectors(x: Any) -> bool:
    return isinstance(x, Tensor) and x.ndim == 3 and x.is_floating_point()
