"""An object that takes a sequence part by part by one of its methods, and whole by its call."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.conformance.inference.building.kept_objects import OF_SAMPLES
from attnconf.conformance.inference.trials.trial import drawn, same_numbers
from attnconf.conformance.inference.words.vocabulary import snake

LONG = 6
ONE_BY_ONE, IN_PARTS = (1,) * LONG, (2, 1, 3)
ROOM = r"(max_?)?(seq_?)?(len(gth)?|size|steps|tokens)|capacity"


@dataclass(frozen=True)
class Stepped:
    """An object with its call, a method for one position, and those that begin a sequence, by name."""

    call: Callable[[Mapping[str, Any]], Any]
    step: Callable[..., Any]
    begin: Sequence[Callable[..., Any]]
    first: str  # the name of the argument that holds the positions

    def whole(self, given: Mapping[str, Any]) -> Tensor:
        return _output(self.call(given), given[self.first])

    def stepwise(self, given: Mapping[str, Any], cuts: Sequence[int] = ONE_BY_ONE, so_far: bool = False) -> Tensor:
        """Return the output of each part, as the object is stepped; ``so_far``: it is handed those before too."""
        x, outs, at = given[self.first], [], 0
        for begin in self.begin:
            begin(**taken(begin, given, x))
        for size in cuts:
            part = x[:, 0 if so_far else at : at + size]
            outs.append(_output(self._stepped(part, given), part)[:, -size:])
            at += size
        return torch.cat(outs, 1)

    def begins_anew(self, given: Mapping[str, Any]) -> bool:
        """Return whether a sequence after another comes out as the whole, if need be with all flags of what begins."""
        want = self.whole(given)
        fully = replace(self, begin=[partial(begin, **_turned(begin)) for begin in self.begin])
        return any(same_numbers(way.stepwise(given), want) for way in (self, fully))

    def _stepped(self, part: Tensor, given: Mapping[str, Any]) -> Any:
        """Return what the step gives, whose first argument is the part however it is called."""
        name = next(iter(inspect.signature(self.step).parameters))
        return self.step(**{**taken(self.step, {**given, self.first: part}, part), name: part})


def taken(method: Callable[..., Any], given: Mapping[str, Any], x: Tensor) -> dict[str, Any]:
    """Return the arguments of a call that a method takes, and sizes that it wants; it fails where it wants others."""
    wanted = inspect.signature(method).parameters
    sizes = {name: size for name, one in wanted.items() if one.default is one.empty for size in _sizes(name, x)}
    return sizes | {name: given[name] for name in wanted if name in given}


def _turned(method: Callable[..., Any]) -> dict[str, bool]:
    """Return the flags of a method, each as it is not by default."""
    return {p.name: not p.default for p in inspect.signature(method).parameters.values() if isinstance(p.default, bool)}


def _sizes(name: str, x: Tensor) -> list[int]:
    """Return the number of samples, or of positions, where an argument is called so."""
    ways = ((OF_SAMPLES, x.shape[0]), (ROOM, LONG))
    return [size for names, size in ways if re.fullmatch(names, snake(name))][:1]


def another(x: Any, name: str) -> Any:
    """Return a sequence of our own in the place of a tensor: of vectors, or of ids that are no larger than its own."""
    if not isinstance(x, Tensor):
        return x
    if x.is_floating_point():
        return drawn(f"in steps: {name}", x.shape[0], LONG, x.shape[2]).to(x.dtype)
    return (1000 * drawn(f"in steps: {name}", x.shape[0], LONG).abs()).to(x) % (x.max() + 1)


def with_another_first(x: Tensor) -> Tensor:
    """Return a sequence with another position in the place of the first."""
    first = -x[:, :1] if x.is_floating_point() else (x[:, :1] + 1) % (x.max() + 1)
    return torch.cat([first, x[:, 1:]], 1)


def sequences(given: Mapping[str, Any]) -> bool:
    """Return whether the first argument of a call, and all tensors of it, are sequences of vectors; or it is of ids."""
    tensors = [y for y in given.values() if isinstance(y, Tensor)]
    first, *others = tensors or [torch.empty(0)]
    ids = first.ndim == 2 and first.dtype == torch.long and int(first.max()) > 0
    begins = isinstance(next(iter(given.values()), None), Tensor)
    return begins and (ids or first.ndim == 3) and all(y.ndim == 3 and y.is_floating_point() for y in others)


def _output(returned: Any, x: Tensor) -> Tensor:
    out = next(y for y in tree_leaves(returned) if isinstance(y, Tensor))
    if out.shape[: x.ndim] != x.shape:
        raise ValueError("what comes back is no output")
    return out.detach()


def held(module: Any) -> list[int]:
    """Return what an object and its parts hold besides parameters, as far as that it changes shows."""
    parts = module.modules() if isinstance(module, torch.nn.Module) else [module]
    own = [value for part in parts for name, value in vars(part).items() if name not in ("_parameters", "_modules")]
    return [id(leaf) for leaf in tree_leaves(own)]
