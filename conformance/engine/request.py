"""What is under test, what it is asked, and what came back: data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from attnconf.adapters.contract import Build
from attnconf.conformance.engine.counter import Counts

INFERRED = "<inferred binding>"  # where the text of a binding says that it stands
GUESS = "a guess: nothing confirmed it"  # of an inferred binding that no textbook and no known mistake certifies


@dataclass(frozen=True)
class Implementation:
    """What is under test: its functions by component, and what it says of itself."""

    name: str
    components: Mapping[str, Build]
    declares: Mapping[str, Any] = field(default_factory=dict)  # conventions; under a component's name, its own
    profile: str | None = None
    source: str = ""
    version: str | None = None
    binding: str = "adapter"
    told: tuple[str, ...] = ()  # an inferred binding, in words
    established: bool = True  # an inferred binding: it is certified by the reference or by a known mistake
    written: str = ""  # the file in which an inferred binding's text stands
    inside: str = ""  # the class or function that is judged, where one is
    doubt: str = ""  # why it is not established
    mistake: str = ""  # the known mistake that certified an inferred binding

    def declared(self, component: str) -> dict[str, str]:
        """Return the conventions that hold for one component."""
        return of_component(self.declares, component)


def of_component(declares: Mapping[str, Any], component: str) -> dict[str, str]:
    """Return the conventions that hold for one component: those for all, and those under its name."""
    common = {key: value for key, value in declares.items() if not isinstance(value, Mapping)}
    return {**common, **declares.get(component, {})}


@dataclass(frozen=True)
class Unjudgeable:
    """An implementation that was found but cannot be judged, and why."""

    name: str
    source: str
    reason: str
    lacking: bool = False  # the environment lacks a package: nothing is known of the implementation
    tried: tuple[str, ...] = ()  # where several things in it may be judged and none can: a line for each


@dataclass(frozen=True)
class Request:
    """One call: build the component anew for ``config`` and ``weights``, call it on ``inputs``."""

    component: str
    config: Any
    weights: Mapping[str, Tensor]
    inputs: Mapping[str, Any]  # by the contract's names, tensors but for lengths; what is absent is not passed
    out_shape: tuple[int, ...]
    weights_shape: tuple[int, ...] | None = None  # None: weights are not asked for
    averaged_shape: tuple[int, ...] | None = None  # accepted where the adapter declares averaged weights
    mode: str = "plain"  # plain, tracked (everything requires grad), no_grad, inference_mode
    cotangent: Tensor | None = None  # with it, gradients with respect to ``wrt`` come back
    wrt: tuple[str, ...] = ()
    same: bool = False  # query, key and value are one object; without "value" in the inputs the key is the value
    layout: str = "contiguous"
    before: tuple[Mapping[str, Any], ...] = ()  # calls the same callable has seen before
    seed: int | None = None
    counted: bool = False  # count what the call makes and computes, not what building and earlier calls do


@dataclass(frozen=True)
class Reply:
    """What came back. ``changed`` names the handed-over tensors that were modified."""

    out: Tensor
    weights: Tensor | None
    grads: Mapping[str, Tensor]
    changed: tuple[str, ...]
    counts: Counts | None = None
