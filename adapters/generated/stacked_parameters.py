"""Stacks whose parameters hold all layers along the first axis, as modules with parameters for each layer."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call


class Layered(nn.Module):
    """A stack ``whole`` with parameters for each layer, which are stacked again in every call.

    ``order``: the parameters of one layer in the order of use: "gain", or "gain[0]" and "gain[1]" if a layer has two.
    They are named layers.0.gain, or layers.0.gain_0; a parameter of no layer is named rest.gain.
    """

    _whole: nn.Module  # its own parameters are none of this module's

    def __init__(self, whole: nn.Module, order: Sequence[str]) -> None:
        super().__init__()
        object.__setattr__(self, "_whole", whole)
        self.order = tuple(order)
        parameters = dict(whole.named_parameters())
        split = {piece.partition("[")[0] for piece in self.order}
        self.layers = nn.ModuleList(nn.Module() for _ in range(min(len(parameters[name]) for name in split)))
        self.rest = nn.Module()
        self.others = tuple(name for name in parameters if name not in split)
        for name in self.others:
            self.rest.register_parameter(_called(name), nn.Parameter(parameters[name].detach().clone()))
        for i, layer in enumerate(self.layers):
            for piece in self.order:
                name, *at = re.split(r"[\[\]]+", piece.rstrip("]"))
                value = parameters[name].detach()[(i, *map(int, at))]
                layer.register_parameter(_called(piece), nn.Parameter(value.clone()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        pieces: dict[str, list[list[Tensor]]] = {}
        for i, layer in enumerate(self.layers):
            for piece in self.order:
                layers = pieces.setdefault(piece.partition("[")[0], [[] for _ in self.layers])
                layers[i].append(getattr(layer, _called(piece))[None])
        split = {piece.partition("[")[0] for piece in self.order if "[" in piece}
        state = {
            name: torch.stack([torch.cat(parts) if name in split else parts[0][0] for parts in layers])
            for name, layers in pieces.items()
        }
        state |= {name: getattr(self.rest, _called(name)) for name in self.others}
        return functional_call(self._whole, state, args, kwargs)

    def train(self, mode: bool = True) -> "Layered":
        self._whole.train(mode)
        return super().train(mode)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Layered":
        self._whole._apply(fn)
        super()._apply(fn, recurse)
        return self


def _called(piece: str) -> str:
    return re.sub(r"\[(\d+)\]", r"_\1", piece).replace(".", "_")
