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

from attnconf.adapters.generated.held_objects import Place, leaves, put, register

CALLS = ("forward", "__call__", "call")
TOLD = "in NumPy     arrays go in and come out, in float64; gradients are not asked for"


class InArrays(ModuleType):
    """A module's definitions for tensors. Setting an attribute sets it in the module, too."""

    def __init__(self, module: ModuleType):
        super().__init__(module.__name__)
        vars(self).update({name: lent(value, module.__name__) for name, value in vars(module).items()})
        vars(self).update(__wrapped__=module, __lent_by__="numpy_arrays.in_arrays", __told__=TOLD)

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
    """An object that computes in NumPy, as a module whose parameters are the object's arrays of floats.

    The arrays may lie in the object's lists and dicts, and in objects that it holds.
    """

    def __init__(self, thing: Any):
        super().__init__()
        self.__dict__.update(held_object=thing, held_places={})  # no sub-module, whatever it is
        for path, place, array in leaves(thing, _of_floats):
            if not _of_derivatives(thing, path.partition(".")[0]):
                self.held_places[path] = place
                register(self, path.split("."), nn.Parameter(torch.from_numpy(array.astype(np.float64))))

    held_places: dict[str, Place]

    def lend(self) -> Any:
        """Return the object with its arrays set to the current parameters."""
        for name, parameter in self.named_parameters():
            put(self.held_places[name], arrays(parameter))
        return self.held_object


def _of_floats(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def _of_derivatives(thing: Any, name: str) -> bool:
    """Return whether an attribute is a dict of zeros beside another one with the same entries, which are not all 0."""
    held = vars(thing)[name]
    if not isinstance(held, dict) or any(np.any(x) for _, _, x in leaves(held, _of_floats)):
        return False
    others = [value for other, value in vars(thing).items() if other != name and isinstance(value, dict)]
    alike = [other for other in others if _shapes(held) == _shapes(other)]
    return any(np.any(x) for other in alike for _, _, x in leaves(other, _of_floats))


def _shapes(held: Any) -> dict[str, tuple[int, ...]]:
    return {path: x.shape for path, _, x in leaves(held, _of_floats)}


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
    if isinstance(x, tuple | list):
        return _like(x, [arrays(item) for item in x])
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
    """Return arrays, alone or in a tuple, list or dict, as tensors; floats are float64, whatever computed them."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        return torch.from_numpy(x.astype(np.float64 if x.dtype.kind == "f" else x.dtype))  # a copy, strides as torch's
    if type(x) in (tuple, list) or hasattr(x, "_fields"):
        return _like(x, [tensors(item) for item in x])
    return {key: tensors(item) for key, item in x.items()} if type(x) is dict else x


def _like(x: Any, items: list[Any]) -> Any:
    """Return items as a list, tuple or named tuple is one."""
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
