"""The scored cases: named, sized, drawn from our own counter-based generator, the same for every implementation.

Sizes within a case are pairwise distinct wherever the case does not need two to be equal, so that no two axes
can be mistaken for each other. Numbers are signed and of unit variance: weak stimuli hide mistakes.
"""

import hashlib
import math
from collections.abc import Callable
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
    """Return float64 numbers, uniform in ±√3 (mean 0, variance 1), that depend on ``key`` and nothing else.

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


@dataclass(frozen=True)
class Case:
    """Sizes (B batch, H heads, L queries, S keys, E and F widths of keys and values) and what is drawn in them.

    For multi-head attention E is the width of one head and the inputs' widths are ``embed``, ``key_dim``,
    ``value_dim`` and ``out_dim``; 0 means H·E. For an encoding of positions B, L and E are samples, tokens, features.
    """

    name: str
    B: int = 2
    H: int = 3
    L: int = 5
    S: int = 11
    E: int = 7
    F: int = 13
    regime: str = "moderate"
    dtype: torch.dtype = torch.float64
    device: str = "cpu"
    seed: int = 0
    embed: int = 0
    key_dim: int = 0
    value_dim: int = 0
    out_dim: int = 0
    bias: bool = True
    biases: str = "qkvofn"  # what has one, where bias: the projections, the feed-forward network, norms
    multiple: int = 1  # of which E is one, here and where --thorough explores
    fixed: bool = False  # --thorough does not explore around it: training takes seconds, and its sizes are its own
    reads: str = ""  # how the inputs are shown where they are not q, k and v: "x({B}, {L}, {E})"
    numeric: bool = True  # text has no dtype
    _drawn: dict[str, Tensor] = field(default_factory=dict, compare=False, repr=False)
    _computed: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def draw(self, what: str, *shape: int) -> Tensor:
        """Return a tensor of this case, in its dtype and on its device; the same each time."""
        key = f"{what}{shape}"
        if key not in self._drawn:
            drawn = draw(f"{self.seed}/{self.name}/{what}", *shape)
            self._drawn[key] = drawn.to(self.device, self.dtype)
        return self._drawn[key]

    def once(self, what: str, compute: Callable[[], T]) -> T:
        """Return ``compute()``, computed once for this case: what is wanted is the same for every implementation."""
        if what not in self._computed:
            self._computed[what] = compute()
        return self._computed[what]

    def but(self, **changes: object) -> "Case":
        """Return this case with other sizes, dtype or regime."""
        key = f"but {sorted(changes.items(), key=str)}"
        return self.once(key, lambda: replace(self, **changes, _drawn={}, _computed={}))  # type: ignore[arg-type]

    def permutation(self, what: str, size: int) -> Tensor:
        """Return a permutation of ``size`` that moves every element (for size > 1)."""
        order = torch.argsort(draw(f"{self.seed}/{self.name}/{what}", size))
        cycle = torch.empty_like(order)
        cycle[order] = order.roll(1)
        return cycle.to(self.device)

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
        dtype = str(self.dtype).removeprefix("torch.")
        if self.reads:
            return f"{self.name}: {self.reads.format(**vars(self))}" + (f" {dtype}" if self.numeric else "")
        if self.embed:
            key, value = (n or self.H * self.E for n in (self.key_dim, self.value_dim))
            sizes = f"query({self.B}, {self.L}, {self.embed}) key({self.B}, {self.S}, {key})"
            return f"{self.name}: {sizes} value({self.B}, {self.S}, {value}), {self.H} heads of {self.E} {dtype}"
        sizes = f"q({self.B}, {self.H}, {self.L}, {self.E}) k({self.B}, {self.H}, {self.S}, {self.E})"
        return f"{self.name}: {sizes} v({self.B}, {self.H}, {self.S}, {self.F}) {dtype}"
