"""The scored cases: named, sized, drawn from our own counter-based generator, the same for every implementation.

Sizes within a case are pairwise distinct wherever the case does not need two to be equal, so that no two axes
can be mistaken for each other. Numbers are signed and of unit variance: weak stimuli hide mistakes.
"""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

T = TypeVar("T")

# Standard deviation of the scores in each regime.
REGIMES = {"uniform": 0.1, "moderate": 1.5, "peaked": 3.0}


def draw(key: str, *shape: int) -> Tensor:
    """Return float64 numbers, uniform in ±√3 (mean 0, variance 1), that depend on ``key`` alone.

    SplitMix64 (Steele, Lea and Flood 2014) on a counter: no library's generator, so no library's release changes them.
    """
    start = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")
    with np.errstate(over="ignore"):
        z = np.uint64(start) + np.arange(1, math.prod(shape) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    unit = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return torch.from_numpy((unit * 2 - 1) * math.sqrt(3)).reshape(shape)


@dataclass(frozen=True, eq=False)
class Shape:
    """The names of a chapter's sizes, how a case prints them, and which size is the heads, the width, and so on.

    ``sizes`` stand in the order in which the search for a small example reduces them. The fields from ``heads`` on
    name a size each: ``heads="H"``. A field stays empty if the chapter has no such size.
    """

    sizes: str  # "B L features"
    shown: str  # the inputs of a call: "x({B}, {L}, {features})"
    products: Mapping[str, str] = field(default_factory=dict)  # size -> its factors: "heads head_width"
    multiples: Mapping[str, int] = field(default_factory=dict)  # size -> it stays a multiple of this
    numeric: bool = True  # text has no dtype
    heads: str = ""  # number of heads
    shared: str = ""  # number of heads that keys and values have
    head: str = ""  # width of one head, where a single one is as wide as the model
    model: str = ""  # width of the model
    hidden: str = ""  # width of the layer within a feed-forward network
    keys: str = ""  # width of keys, where that of values may be another
    values: str = ""  # width of values
    normed: str = ""  # features of a norm alone, of which an unbiased variance needs two

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that every case has."""
        return tuple(self.sizes.split())

    def case(
        self, name: str, *, regime: str = "moderate", dtype: torch.dtype = torch.float64, bias: bool = True,
        fixed: bool = False, **sizes: int,
    ) -> "Case":  # fmt: skip
        """Return a case of these sizes. Raises TypeError if a size is missing or unknown to the shape."""
        lacking, unknown = set(self.names) - set(sizes), set(sizes) - {*self.names, *self.products}
        if lacking or unknown:
            raise TypeError(f"case {name}: sizes lacking: {sorted(lacking)}; not of its shape: {sorted(unknown)}")
        return Case(name, self, sizes, regime, dtype, bias=bias, fixed=fixed)

    def size(self, name: str, given: Mapping[str, int]) -> int:
        """Return a size by its name. Raises KeyError."""
        return given[name] if name in given else math.prod(given[part] for part in self.products[name].split())


@dataclass(frozen=True)
class Case:
    """One scored case: sizes by the names of its chapter (``case.heads``), and tensors drawn in these sizes."""

    name: str
    shape: Shape = field(repr=False)
    sizes: Mapping[str, int] = field(hash=False)
    regime: str = "moderate"
    dtype: torch.dtype = torch.float64
    device: str = "cpu"
    seed: int = 0
    bias: bool = True
    projected: bool = True  # whether attention has an output projection; else out.weight is the identity
    one_projected: bool = True  # whether it has one where a single head is as wide as the model
    biases: str = "qkvofn"  # which parts have a bias: projections q k v o, feed-forward network f, norms n
    fixed: bool = False  # --thorough does not explore around it: training takes seconds, and its sizes are its own
    _drawn: dict[str, Tensor] = field(default_factory=dict, compare=False, repr=False)
    _computed: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __getattr__(self, name: str) -> int:
        """Return a size by its name. Raises AttributeError with the names of all sizes."""
        if name.startswith("_") or name in ("shape", "sizes"):
            raise AttributeError(name)
        try:
            return self.shape.size(name, self.sizes)
        except KeyError:
            there = ", ".join(dict.fromkeys((*self.sizes, *self.shape.products)))
            raise AttributeError(f"case {self.name} has no size {name!r}: there are {there}") from None

    @property
    def projects(self) -> bool:
        """Whether attention has an output projection in these sizes."""
        shape = self.shape
        if self.one_projected or not shape.heads or shape.size(shape.heads, self.sizes) > 1:
            return self.projected
        wide = not shape.head or shape.size(shape.head, self.sizes) == shape.size(shape.model, self.sizes)
        return self.projected and not wide

    def draw(self, what: str, *shape: int) -> Tensor:
        """Return the tensor named ``what`` in the case's dtype and on its device; the same numbers each time."""
        key = f"{what}{shape}"
        if key not in self._drawn:
            drawn = draw(f"{self.seed}/{self.name}/{what}", *shape)
            self._drawn[key] = drawn.to(self.device, self.dtype)
        return self._drawn[key]

    def once(self, what: str, compute: Callable[[], T]) -> T:
        """Return ``compute()``, evaluated once for this case: the wanted output is the same for all implementations."""
        if what not in self._computed:
            self._computed[what] = compute()
        return self._computed[what]

    def but(self, **changes: object) -> "Case":
        """Return this case with other sizes, dtype or regime. Raises TypeError for an unknown name."""
        own = {name: changes[name] for name in changes if name in self.sizes or name in self.shape.products}
        other = {name: change for name, change in changes.items() if name not in own}
        sizes = {**self.sizes, **own}
        key = f"but {sorted(changes.items(), key=str)}"
        return self.once(key, lambda: replace(self, sizes=sizes, **other, _drawn={}, _computed={}))  # type: ignore[arg-type]

    def seen_as(self, shape: Shape, **sizes: int) -> "Case":
        """Return a case of another chapter's shape; a tensor of one name and size has the same numbers in both."""
        key = f"seen as {shape.shown} {sizes}"
        return self.once(key, lambda: replace(self, shape=shape, sizes=sizes, _drawn={}, _computed={}))

    def permutation(self, what: str, size: int) -> Tensor:
        """Return a permutation of ``size`` that moves every element (for size > 1)."""
        order = torch.argsort(draw(f"{self.seed}/{self.name}/{what}", size))
        cycle = torch.empty_like(order)
        cycle[order] = order.roll(1)
        return cycle.to(self.device)

    # Queries, keys and values of a case that has the sizes of attention.

    @cached_property
    def q(self) -> Tensor:
        return self.draw("q", self.B, self.H, self.L, self.E) * REGIMES[self.regime]

    @cached_property
    def k(self) -> Tensor:
        return self.draw("k", self.B, self.H, self.S, self.E)

    @cached_property
    def v(self) -> Tensor:
        return self.draw("v", self.B, self.H, self.S, self.F)

    def __str__(self) -> str:
        sizes = {name: self.shape.size(name, self.sizes) for name in (*self.sizes, *self.shape.products)}
        dtype = " " + str(self.dtype).removeprefix("torch.") if self.shape.numeric else ""
        return f"{self.name}: {self.shape.shown.format(**sizes)}{dtype}"
