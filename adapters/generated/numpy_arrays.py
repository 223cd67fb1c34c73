"""``in_arrays(module)``: definitions that compute in NumPy, to be called with tensors: arrays go in, tensors come out.

Numbers are in float64, NumPy's default, and carry no gradients; calls that need another dtype or gradients are refused.
An object of a class is wrapped in a module whose parameters are the object's arrays.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

CALLS = ("forward", "__call__", "call")


class InArrays(ModuleType):
    """A module's definitions for tensors. Setting an attribute sets it in the module, too."""

    def __init__(self, module: ModuleType):
        super().__init__(module.__name__)
        vars(self).update({name: lent(value, module.__name__) for name, value in vars(module).items()})
        vars(self)["__wrapped__"] = module

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = value
        setattr(vars(self)["__wrapped__"], name, value)


def in_arrays(module: ModuleType) -> ModuleType:
    """Return a module whose own functions and classes take and return tensors."""
    return InArrays(module)


def lent(value: Any, module: str) -> Any:
    """Return a function or class of a module for tensors, and anything else as it is."""
    if getattr(value, "__module__", None) != module:
        return value
    if isinstance(value, FunctionType):
        return _function(value)
    return _class(value) if isinstance(value, type) and _called(value) else value


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return tensors(function(*arrays(args), **arrays(kwargs)))

    return call


def _called(kind: type) -> str:
    """Return the method by which an object is called, or None."""
    return next((name for name in CALLS if name in dir(kind)), "")


class Lent(nn.Module):
    """An object that computes in NumPy, as a module whose parameters are the object's arrays of floats."""

    def __init__(self, thing: Any):
        super().__init__()
        self.__dict__["thing"] = thing  # no sub-module, whatever it is
        for name, value in vars(thing).items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                self.register_parameter(name, nn.Parameter(torch.from_numpy(value.astype(np.float64))))

    def lend(self) -> Any:
        """Return the object with its arrays set to the current parameters."""
        for name in self._parameters:
            setattr(self.thing, name, arrays(getattr(self, name)))
        return self.thing


def _class(kind: Any) -> type:
    """Return a class of modules that wraps a class computing in NumPy; it keeps the name, signature and code."""
    called = _called(kind)

    @wraps(kind.__init__)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Lent.__init__(self, kind(*arrays(args), **arrays(kwargs)))

    @wraps(getattr(kind, called))
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return tensors(getattr(self.lend(), called)(*arrays(args), **arrays(kwargs)))

    own = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    own |= {"__signature__": inspect.signature(kind), "__init__": __init__, "forward": forward}
    return type(kind.__name__, (Lent,), own)


def arrays(x: Any) -> Any:
    """Return tensors, alone or in a tuple, list or dict, as arrays of the same memory; a generator as one of NumPy's.

    Raises NotImplementedError for gradients, for other devices, and for floats that are not float64.
    """
    if type(x) in (tuple, list):
        return type(x)(arrays(item) for item in x)
    if isinstance(x, dict):
        return {key: arrays(item) for key, item in x.items()}
    if isinstance(x, torch.Generator):
        return np.random.default_rng(x.initial_seed())
    if not isinstance(x, Tensor):
        return x
    if x.requires_grad and torch.is_grad_enabled() and not isinstance(x, nn.Parameter):
        raise NotImplementedError("gradients: it computes in NumPy")
    if x.device.type != "cpu":
        raise NotImplementedError("devices other than the CPU: it computes in NumPy")
    if x.is_floating_point() and x.dtype != torch.float64:
        raise NotImplementedError(f"{str(x.dtype).removeprefix('torch.')}: it computes in NumPy, in float64")
    return x.detach().numpy()


def tensors(x: Any) -> Any:
    """Return arrays, alone or in a tuple, list or dict, as tensors."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        return torch.from_numpy(x.copy())  # whose strides are none that torch does not have
    if type(x) in (tuple, list):
        return type(x)(tensors(item) for item in x)
    return {key: tensors(item) for key, item in x.items()} if type(x) is dict else x
