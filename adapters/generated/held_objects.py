"""``held(thing)``: an object whose class is no module, as a module whose parameters are the tensors that it holds."""

import inspect
from collections.abc import Callable, Collection, Iterator
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

Place = tuple[Any, Any]  # an object, dict or list, and the name, key or index under which it holds something


class Held(nn.Module):
    """Calls an object with the parameters in the places of its tensors, which may lie in dicts, lists and objects."""

    held_object: Any
    held_places: dict[str, list[Place]]

    def __init__(self, thing: Any):
        super().__init__()
        self.__dict__.update(held_object=thing, held_places={})  # no sub-modules, whatever they are
        found = list(leaves(thing, lambda x: isinstance(x, Tensor) and x.is_floating_point()))
        trained = any(x.requires_grad for _, _, x in found)
        names: dict[int, str] = {}
        for path, place, x in found:
            if x.requires_grad or not trained:
                name = names.setdefault(id(x), path)
                self.held_places.setdefault(name, []).append(place)
                if name == path:
                    register(self, path.split("."), nn.Parameter(x.detach().clone()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        for name, x in self.named_parameters():
            for place in self.held_places[name]:
                put(place, x)
        call = self.held_object.forward if hasattr(self.held_object, "forward") else self.held_object
        return call(*args, **kwargs)


def held(thing: Any, width: int = 0) -> nn.Module:
    """Return a module that calls an object; the tensors which the object holds are its parameters.

    Where some of them ask for gradients these are, else all of floating point. With a width, it is called once with
    vectors that wide before, in each input that it wants: the first call makes its tensors.
    """
    if width:
        called = thing.forward if hasattr(thing, "forward") else thing
        wanted = (p for p in inspect.signature(called).parameters.values() if p.default is p.empty)
        called(*(torch.zeros(1, 2, width) for _ in wanted))
    call = type(thing).forward if hasattr(type(thing), "forward") else type(thing).__call__

    class Called(Held):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return super().forward(*args, **kwargs)

    Called.forward.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
    return Called(thing)


def leaves(thing: Any, wanted: Callable[[Any], bool]) -> Iterator[tuple[str, Place, Any]]:
    """Yield what is wanted of all that an object holds, with its dotted path and the place where it is held."""
    yield from _leaves(thing, wanted, "", {id(thing)})


def _leaves(thing: Any, wanted: Callable[[Any], bool], path: str, seen: set[int]) -> Iterator[tuple[str, Place, Any]]:
    entries = list(_entries(thing))
    keys = [key for key, _ in entries]
    for key, x in entries:
        name = within(path, key, keys)
        if wanted(x) and not isinstance(thing, tuple):
            yield name, (thing, key), x
        elif id(x) not in seen and not isinstance(x, Tensor):
            seen.add(id(x))
            yield from _leaves(x, wanted, name, seen)


def within(path: str, key: Any, beside: Collection[Any] = ()) -> str:
    """Return a path with another key behind it, under which a module can have a parameter.

    `to` is a method of a module, and where `wq.bias` is ``beside`` it `wq` is one with parameters: it is `wq.weight`.
    """
    parts = [f"{part}_" if hasattr(nn.Module, part) else part for part in str(key).split(".")]
    above = any(str(other).startswith(f"{key}.") for other in beside)
    return f"{path}.{'.'.join(parts)}{'.weight' if above else ''}".lstrip(".")


def _entries(thing: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(thing, dict):
        yield from thing.items()
    elif isinstance(thing, list | tuple):
        yield from enumerate(thing)
    elif hasattr(thing, "__dict__") and not isinstance(thing, type | ModuleType) and not inspect.isroutine(thing):
        yield from vars(thing).items()


def put(place: Place, x: Any) -> None:
    """Put something into a place."""
    thing, key = place
    if isinstance(thing, dict | list):
        thing[key] = x
    else:
        object.__setattr__(thing, key, x)  # of a frozen dataclass, too


def register(module: nn.Module, path: list[str], parameter: nn.Parameter) -> None:
    """Register a parameter under a dotted path."""
    for part in path[:-1]:
        if part not in module._modules:
            module.add_module(part, nn.Module())
        module = module.get_submodule(part)
    module.register_parameter(path[-1], parameter)
