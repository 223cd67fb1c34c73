"""The only way into foreign code: ``call(implementation, request) -> reply``.

A Failure raised here is the implementation's fault, Unsupported is an adapter's NotImplementedError, and any other
exception is the suite's own fault. Requests and replies are data: what runs them is in this process, or in a child.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from torch import Tensor

from attnconf.adapters.contract import Forward
from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.worker import performing
from attnconf.conformance.worker.order import Held, Made, Order
from attnconf.conformance.worker.refused import UNSUPPORTED, Refused

_ORDER = tuple(f.name for f in fields(Order))


def call(implementation: Implementation, request: Request) -> Reply:
    """Return the implementation's reply to the request. Raises Failure or Unsupported."""
    order = Order(**{name: getattr(request, name) for name in _ORDER})
    try:
        made = implementation.apart.perform(order) if implementation.apart else _here(implementation, order)
    except Refused as refused:
        raise _known(refused) from refused.__cause__
    return Reply(made.out, made.weights, made.grads, made.changed, made.counts, made.trained, made.seen)


def _here(implementation: Implementation, order: Order) -> Made:
    with _unprinted(implementation), coverage.looking(implementation.source):
        return performing.perform(_held(implementation), order)


def _held(implementation: Implementation) -> Held:
    binding = implementation.binding
    return Held(implementation.components, implementation.source, binding.file if binding else None)


def _known(refused: Refused) -> Failure | Unsupported:
    return Unsupported(refused.message) if refused.reason == UNSUPPORTED else blamed(refused)


def blamed(refused: Refused) -> Failure:
    """Return the failure that checks know for a refusal."""
    details = {"argument": refused.argument} if refused.argument else {}
    failure = Failure(refused.reason, refused.message, **details)
    failure.at, failure.meant, failure.seen = refused.at, refused.meant, refused.seen
    return failure


@contextlib.contextmanager
def _unprinted(implementation: Implementation) -> Iterator[None]:
    """Drop the output of homework, which prints shapes at every step."""
    if not implementation.binding:
        yield
        return
    with contextlib.redirect_stdout(_Nowhere()), contextlib.redirect_stderr(_Nowhere()):
        yield


class _Nowhere:
    """An output stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing, as nothing was kept."""


def build(implementation: Implementation, component: str, config: Any, weights: Mapping[str, Tensor]) -> Forward:
    """Return the component's callable, for a caller that enters it many times, each time within ``foreign``.

    Raises Failure or Unsupported.
    """
    with foreign(implementation):
        return performing.build(_held(implementation), component, config, weights)


@contextlib.contextmanager
def foreign(implementation: Implementation) -> Iterator[None]:
    """Turn exceptions of foreign code in this context into Failure or Unsupported, and drop its warnings."""
    ours: Failure | Unsupported | None = None  # raised by the suite itself, on what came back
    try:
        with performing.foreign(_held(implementation)):
            try:
                yield
            except (Failure, Unsupported) as known:
                ours = known
    except Refused as refused:
        raise _known(refused) from refused.__cause__
    if ours is not None:
        raise ours
