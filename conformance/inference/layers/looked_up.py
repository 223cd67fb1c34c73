"""Functions that look up ids in a table among their weights: vectors are handed in for the rows that come out."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.generated.vector_input import Calls, Handed
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.finding.watching import WIDTH, B, called_with, output_of
from attnconf.conformance.inference.texts.layer_requests import FIRST
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.probing import Failed, restored
from attnconf.conformance.inference.trials.trial import drawn

MOST = 16  # calls that are tried
PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "linear", "einsum", "tensordot",
            "multi_head_attention_forward"}  # fmt: skip
Given = Callable[[Slot], Any]  # what each slot of a form gets


def with_rows_handed(
    made: Construction, module: nn.Module, form: Form, argument: str, ids: Given, vectors: Given
) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that it takes vectors in place of ids. Raises Failed.

    ``ids``, ``vectors``: what a call is given with the one, and with the other. A mask that it insists on says of all
    tokens that they are there, in either meaning.
    """
    for fill in (1, 0):
        with suppress(Failed):
            return _handed(made, module, form, argument, _masked(ids, fill), _masked(vectors, fill))
    raise Failed("no rows of its weights are found that it looks up for ids, and uses for nothing else")


def _masked(given: Given, fill: int) -> Given:
    """Return what each slot gets, with numbers for a mask that has to be given."""

    def what(slot: Slot) -> Any:
        return torch.full((B, FIRST.L), fill) if slot.role == "mask" and slot.required else given(slot)

    return what


def _handed(
    made: Construction, module: nn.Module, form: Form, argument: str, ids: Given, vectors: Given
) -> tuple[Construction, nn.Module]:
    with restored(module), _Rows(module.double()) as rows:
        called_with(module, form, ids)
    for call in rows.calls[: -MOST - 1 : -1]:  # the last one first: its embedding may have a norm
        model = Handed(module, {argument: call})
        if _deaf(model, rows.table, form, vectors):
            return replace(made, text=f"handed({made.text}, {model.ids!r})"), model
    raise Failed("its table is used otherwise, too" if rows.calls else "nothing is looked up")


def _deaf(model: Handed, table: str, form: Form, vectors: Given) -> bool:
    """Return whether the table of its ids makes no difference to what comes of vectors, with numbers in all weights."""
    module = model.whole
    seen: list[Tensor] = []
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    with torch.no_grad():
        for name, p in module.named_parameters():
            p.copy_(drawn(name, *p.shape))
        try:
            for _ in range(2):
                with restored(module):
                    seen.append(output_of(called_with(model, form, vectors)))
                module.get_parameter(table).add_(1 + torch.arange(WIDTH) % 3)
        finally:
            for name, p in module.named_parameters():
                p.copy_(before[name])
    return torch.allclose(seen[0], seen[1])


class _Rows(Calls):
    """Notes the first call that gives a vector for each id, and the parameter that it is given.

    ``calls``: that one, and those that give vectors behind it, up to the first product.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__(self._note)
        self.names = {id(p): name for name, p in module.named_parameters()}
        self.calls, self.table, self.given, self.over = list[str](), "", "", False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.given = next((self.names[id(x)] for x in args if id(x) in self.names), "")
        return super().__torch_function__(func, types, args, kwargs)

    def _note(self, call: str, result: Any) -> Any:
        vectors = isinstance(result, Tensor) and result.ndim == 3 and (len(result), result.shape[2]) == (B, WIDTH)
        self.over = self.over or (bool(self.table) and call.partition(" of ")[2] in PRODUCTS)
        if vectors and self.given and not self.table:
            self.table = self.given
        if vectors and self.table and not self.over:
            self.calls.append(call)
        return result
