"""The implementation under test, the requests made of it, and its replies: data only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from attnconf.adapters.contract import Build
from attnconf.conformance.worker.counter import Counts
from attnconf.conformance.worker.order import Made, Order
from attnconf.conformance.worker.watching import Recorded

INFERRED = "<inferred binding>"  # where the text of a binding says that it stands
GUESS = "a guess: nothing confirmed it"  # of an inferred binding that no textbook and no known mistake certifies


@dataclass(frozen=True)
class Binding:
    """How a user's class or function was bound to a component, and how certain the binding is."""

    file: str = ""  # the name of the binding's text in tracebacks
    inside: str = ""  # the class or function that is judged
    established: bool = True  # certified by the reference or by a known mistake
    doubt: str = ""  # why it is not established
    mistake: str = ""  # the known mistake that certified it, if it was not the reference
    named: bool = False  # the user said which component it is
    open_ends: tuple[str, ...] = ()  # what of it is not judged, or has no effect: it cannot conform in full
    broken: tuple[str, ...] = ()  # arguments that do not do what their names promise, in words: it does not conform
    untried: tuple[str, ...] = ()  # options that were left at their defaults
    text: str = ""  # the functions of an adapter, over the user's module ``theirs``
    lent_by: str = ""  # what lends that module to torch: a file of adapters/generated and its function


class Apart(Protocol):
    """An implementation in another process."""

    @property
    def layers(self) -> tuple[str, ...]:
        """What keeps that process apart, in words of reports/schema/results-1.json."""

    def perform(self, order: Order) -> Made:
        """Return what it makes of an order. Raises Refused."""


@dataclass(frozen=True)
class Implementation:
    """An implementation under test: its functions by component, and its declarations."""

    name: str
    components: Mapping[str, Build]
    declares: Mapping[str, Any] = field(default_factory=dict)  # choice by convention; under a component, its own
    profile: str | None = None
    source: str = ""
    version: str | None = None
    notes: tuple[str, ...] = ()  # lines of the header: how it was bound, what was declared and prescribed
    binding: Binding | None = None  # None: an adapter
    apart: Apart | None = None  # None: it runs in this process

    def declared(self, component: str) -> dict[str, str]:
        """Return the conventions that hold for one component."""
        return of_component(self.declares, component)


def of_component(declares: Mapping[str, Any], component: str) -> dict[str, str]:
    """Return the conventions that hold for one component: those for all, and those under its name."""
    common = {key: value for key, value in declares.items() if not isinstance(value, Mapping)}
    return {**common, **declares.get(component, {})}


@dataclass(frozen=True)
class Unjudgeable:
    """An implementation that was found but cannot be judged, with the reason."""

    name: str
    source: str
    reason: str
    lacking: bool = False  # a package is not installed: nothing is known of the implementation
    tried: tuple[str, ...] = ()  # a line for each class or function that was tried in vain


def as_it_is(x: Tensor) -> Tensor:
    """Return x: the ``read`` of a call that no lens has made."""
    return x


@dataclass(frozen=True)
class Call:
    """One call as data: a component is built for ``config`` and ``weights``, and called on ``inputs``.

    Without "key" among the inputs of attention, one object is query, key and value; without "value", the key is the
    value as well.
    """

    component: str
    config: Any
    weights: Mapping[str, Tensor]
    inputs: Mapping[str, Any]  # by the contract's names; an absent input is not passed
    out_shape: tuple[int, ...]
    weights_shape: tuple[int, ...] | None = None  # None: weights are not asked for
    averaged_shape: tuple[int, ...] | None = None  # accepted where the adapter declares averaged weights
    # The rule that out_shape follows when the configuration or the inputs are replaced; without one it stays.
    shape_of: Callable[["Call"], tuple[int, ...]] | None = field(default=None, kw_only=True)
    read: Callable[[Tensor], Tensor] = field(default=as_it_is, kw_only=True)  # output -> what the lens sees in it
    read_weights: Callable[[Tensor], Tensor] = field(default=as_it_is, kw_only=True)

    @property
    def same(self) -> bool:
        """Whether query, key and value are one object."""
        return "query" in self.inputs and "key" not in self.inputs

    @property
    def dtype(self) -> torch.dtype | None:
        """The dtype that is computed in: of the inputs, else of the weights, else of the configuration; or None."""
        given = (x for x in (*self.inputs.values(), *self.weights.values()) if isinstance(x, Tensor))
        found = next((x.dtype for x in given if x.is_floating_point()), getattr(self.config, "dtype", None))
        return found if isinstance(found, torch.dtype) else None

    def with_config(self, **changes: Any) -> Self:
        """Return the call with other entries in its configuration."""
        return replace(self, config=replace(self.config, **changes)).shaped()

    def with_weights(self, weights: Mapping[str, Tensor]) -> Self:
        """Return the call with these weights in place of its own; other weights stay."""
        return replace(self, weights={**self.weights, **weights})

    def with_inputs(self, **inputs: Any) -> Self:
        """Return the call with these inputs in place of its own; other inputs stay."""
        return replace(self, inputs={**self.inputs, **inputs}).shaped()

    def shaped(self) -> Self:
        """Return the call with ``out_shape`` computed anew by ``shape_of``."""
        return replace(self, out_shape=self.shape_of(self)) if self.shape_of else self

    def asked(self, **how: Any) -> "Request":
        """Return the request to make this call; ``how``: fields of Request, or of the call in place of its own.

        The functions ``shape_of``, ``read`` and ``read_weights`` are left out, so that a request is data.
        """
        own = {f.name: getattr(self, f.name) for f in fields(Call) if not f.kw_only}
        return Request(**{**own, **how})


@dataclass(frozen=True)
class Request(Call):
    """A call and how it is made: its mode, memory layout and earlier calls, and whether gradients are wanted."""

    mode: str = "plain"  # plain, tracked (everything requires grad), no_grad, inference_mode
    cotangent: Tensor | None = None  # if given, gradients with respect to ``wrt`` come back
    wrt: tuple[str, ...] = ()
    layout: str = "contiguous"
    before: tuple[Mapping[str, Any], ...] = ()  # inputs of earlier calls of the same callable
    seed: int | None = None
    counted: bool = False  # count the call's cost; building and earlier calls do not count
    watched: bool = False  # record the steps that can be seen from outside


@dataclass(frozen=True)
class Reply:
    """The reply to a request. ``changed``: the names of weights and inputs that the implementation modified."""

    out: Tensor
    weights: Tensor | None
    grads: Mapping[str, Tensor]
    changed: tuple[str, ...]
    counts: Counts | None = None
    trained: int = 0  # elements of the largest trainable parameter that out comes from, where no gradient is asked for
    seen: Recorded = field(default_factory=dict)  # by step, each tensor: of earlier calls, too
