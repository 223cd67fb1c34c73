"""``for_each_length(build)``: modules that each take inputs of one length, as a module that takes inputs of any."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

SHORT = 4  # tokens for which the module is built whose parameters are held


class ForEachLength(nn.Module):
    """Holds the parameters of one module, and calls with them the one that is built for the length of the input."""

    build: Callable[[int], nn.Module]
    built: dict[int, nn.Module]

    def __init__(self, build: Callable[[int], nn.Module], first: nn.Module):
        super().__init__()
        self.__dict__.update(build=build, built={}, _parameters=first._parameters, _modules=first._modules)

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Any:
        own: dict[str, Tensor] = dict(self.named_parameters())
        length = x.shape[-2] if x.is_floating_point() else x.shape[-1]
        if length not in self.built:
            with torch.random.fork_rng(devices=[]):  # what is dropped in the call is drawn as if nothing were built
                self.built[length] = self.build(length)
        like = next(iter(own.values()), x)
        module = self.built[length].train(self.training).to(like.device, like.dtype)
        return functional_call(module, own, (x, *args), kwargs)


def for_each_length(build: Callable[[int], nn.Module]) -> nn.Module:
    """Return a module that builds, for the length of each call, one that takes no other length.

    Those that are built stay for later calls of the same length, with what they keep.
    """
    first = build(SHORT)
    if not isinstance(first, nn.Module):
        return first

    class Called(ForEachLength):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            given = signature.bind(self, *args, **kwargs)
            return super().forward(*given.args[1:], **given.kwargs)

    signature = inspect.signature(type(first).forward)
    Called.forward.__signature__ = signature  # type: ignore[attr-defined]
    return Called(build, first)
