"""Stacks whose parameters hold all layers along their first axis: what each layer has, found by watching a call."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnconf.adapters.generated.stacked_parameters import Layered
from attnconf.conformance.inference.building import Construction
from attnconf.conformance.inference.calling import Form
from attnconf.conformance.inference.layer_requests import FIRST
from attnconf.conformance.inference.probing import Failed, call_module
from attnconf.conformance.inference.trial import drawn

LEAST = 6  # parameters that hold all layers: four matrices of attention, two of a network


class _Watch(TorchFunctionMode):
    """Notes what is taken of parameters for layer 0, as "gain[1]"."""

    def __init__(self, names: Mapping[int, str]):
        super().__init__()
        self.names, self.pieces = names, list[str]()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "__getitem__" and id(args[0]) in self.names:
            at = args[1] if isinstance(args[1], tuple) else (args[1],)
            piece = self.names[id(args[0])] + "".join(f"[{i}]" for i in at[1:])
            if all(type(i) is int for i in at) and at[0] == 0 and piece not in self.pieces:
                self.pieces.append(piece)
        return func(*args, **(kwargs or {}))


def layered(made: Construction, module: nn.Module, form: Form, layers: int) -> tuple[Construction, nn.Module]:
    """Return a construction and what it builds such that each layer has its own parameters; the same where it has."""
    every = {name: p for name, p in module.named_parameters() if p.ndim > 1 and len(p) == layers}
    own = {name: p for name, p in every.items() if "." not in name}
    parameters = own or every  # those of a dict of weights have dotted names
    if layers < 2 or len(parameters) < LEAST:
        return made, module
    watch = _Watch({id(p): name for name, p in parameters.items()})
    x = drawn("layered", FIRST.B, FIRST.L, FIRST.width)
    memory = drawn("layered memory", FIRST.B, FIRST.S, FIRST.width)
    given = {"x": x, "memory": memory}
    try:
        with watch:
            call_module(module.double().eval(), form, lambda slot: given.get(slot.role), None)
    except Failed:
        return made, module
    if not _whole(watch.pieces, parameters):
        return made, module
    return replace(made, text=f"layered({made.text}, {watch.pieces!r})"), Layered(module, watch.pieces)


def _whole(pieces: list[str], parameters: Mapping[str, Tensor]) -> bool:
    """Return whether these are all that each parameter has for a layer, each once."""
    counts = Counter(piece.partition("[")[0] for piece in pieces)
    split = {piece.partition("[")[0]: piece.count("[") for piece in pieces}
    return set(counts) == set(parameters) and all(
        counts[name] == (p.shape[1] if split[name] else 1) and split[name] < 2 for name, p in parameters.items()
    )
