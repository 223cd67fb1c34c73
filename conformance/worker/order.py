"""A call as it is ordered, and what came of it: plain data, so that both can be sent to another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from attnconf.adapters.contract import Build
from attnconf.conformance.worker.counter import Counts
from attnconf.conformance.worker.watching import Recorded


@dataclass(frozen=True)
class Held:
    """An implementation where it runs: its functions by component, and where their code stands."""

    components: Mapping[str, Build]
    source: str = ""  # its file
    binding: str | None = None  # the name of an inferred binding's text in tracebacks; None: an adapter


@dataclass(frozen=True)
class Order:
    """A component is built for ``config`` and ``weights``, and called on ``inputs``; fields as in engine.Request."""

    component: str
    config: Any
    weights: Mapping[str, Tensor]
    inputs: Mapping[str, Any]
    out_shape: tuple[int, ...]
    weights_shape: tuple[int, ...] | None
    averaged_shape: tuple[int, ...] | None
    mode: str
    cotangent: Tensor | None
    wrt: tuple[str, ...]
    layout: str
    before: tuple[Mapping[str, Any], ...]
    seed: int | None
    counted: bool
    watched: bool

    @property
    def same(self) -> bool:
        """Whether query, key and value are one object."""
        return "query" in self.inputs and "key" not in self.inputs


@dataclass(frozen=True)
class Made:
    """What a call gave; fields as in engine.Reply."""

    out: Tensor
    weights: Tensor | None
    grads: Mapping[str, Tensor]
    changed: tuple[str, ...]
    counts: Counts | None
    trained: int
    seen: Recorded = field(default_factory=dict)
