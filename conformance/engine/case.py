"""The scored cases: named, sized, drawn from our own counter-based generator, the same for every implementation.

Sizes within a case are pairwise distinct wherever the case does not need two to be equal, so that no two axes
can be mistaken for each other. Numbers are signed and of unit variance: weak stimuli hide mistakes.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
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


# How the inputs of coordinate encodings are shown.
ENCODED = "x({L}, {E}), {S} frequencies"
NETWORK = ENCODED + ", layers of {H}, {B}, {out_dim}"
LAYER = "x({B}, {L}, {H}·{E}), {F} hidden"
TARGETS = "x({B}, {L}, {H}·{E}), memory({B}, {S}, {H}·{E}), {F} hidden"
TOKENS = "source({B}, {S}), target({B}, {L}), {H} heads of {E}, {F} hidden"
DEEP = ENCODED + ", 11 layers of {H}, then {out_dim}"
# How the inputs of tokenizers are shown.
SPOKEN = "{L} words, {S} known or learnt from, of at most {F} letters out of {E}; {H} merges"
IDS = "ids({B}, {L}) of {S}, {H} heads of {E}"
COUNTED = "{B} samples, {H} heads of {E}, {L} tokens (beside {S} keys where those may differ)"

# fmt: off
FAMILIES: dict[str, tuple[Case, ...]] = {
    "distinct": (
        Case("uniform-1",  B=2, H=3, L=5,  S=11, E=7,  F=13, regime="uniform"),
        Case("moderate-2", B=3, H=2, L=11, S=6,  E=5,  F=4),
        Case("peaked-3",   B=2, H=5, L=3,  S=13, E=11, F=7,  regime="peaked"),
    ),
    # S ≤ E and S ≤ F: with V = I the output shows the weights
    "readable": (
        Case("readable-1", B=2, H=3, L=5, S=4, E=7,  F=8),
        Case("readable-2", B=3, H=2, L=4, S=5, E=11, F=13),
    ),
    "one": (Case("moderate-2", B=3, H=2, L=11, S=6, E=5, F=4),),
    "many-rows": (Case("many-rows-1", B=3, H=2, L=61, S=5, E=8, F=9),),
    "small": (Case("small-1", B=2, H=3, L=4, S=5, E=7, F=6),),
    # more samples than anything else has, and as many samples as queries or keys
    "batches": (
        Case("batches-1",    B=5, H=2, L=3, S=4, E=7, F=6),
        Case("batch-is-L-2", B=4, H=3, L=4, S=5, E=7, F=6),
        Case("batch-is-S-3", B=5, H=3, L=4, S=5, E=7, F=6),
    ),
    "square": (
        Case("square-1", B=2, H=3, L=5, S=5, E=7,  F=8),
        Case("square-2", B=3, H=2, L=7, S=7, E=11, F=13),
    ),
    "one-square": (Case("square-1", B=2, H=3, L=5, S=5, E=7, F=8),),
    # padding: queries as many as keys, and samples as many as queries, heads or keys
    "padded": (
        Case("padded-square-1",     B=3, H=2, L=5, S=5, E=7, F=8),
        Case("padded-batch-is-L-2", B=4, H=3, L=4, S=5, E=7, F=6),
        Case("padded-batch-is-H-3", B=3, H=3, L=4, S=5, E=7, F=6),
    ),
    "batch-is-H": (Case("batch-is-H-1", B=3, H=3, L=4, S=5, E=7, F=6),),
    # values as wide as keys, at sizes that fused kernels like
    "fused": (Case("fused-1", B=2, H=4, L=6, S=10, E=8, F=8),),
    "edges": (
        Case("one-query-1",  B=2, H=3, L=1, S=5, E=7, F=4),
        Case("one-key-2",    B=2, H=3, L=5, S=1, E=7, F=4),
        Case("one-sample-3", B=1, H=2, L=5, S=3, E=7, F=4),
        Case("one-head-4",   B=2, H=1, L=5, S=3, E=7, F=4),
        Case("narrow-5",     B=2, H=3, L=5, S=4, E=1, F=7),
    ),
    # off every tile size, longer than 64 and 128
    "long": (Case("long-1", B=1, H=2, L=67, S=131, E=5, F=3),),
    "long-square": (Case("long-square-1", B=1, H=2, L=131, S=131, E=5, F=3),),
    # layers with projections: embed is H·E, as most implementations want it, and all widths equal, so that an
    # input or a weight in the wrong place is wrong instead of refused
    "layers": (
        Case("layer-1", B=2, H=3, L=4, S=5, E=7, F=7, embed=21),
        Case("layer-2", B=3, H=2, L=6, S=4, E=5, F=5, embed=10),
    ),
    "layer": (Case("layer-1", B=2, H=3, L=4, S=5, E=7, F=7, embed=21),),
    "widths": (Case("widths-1", B=2, H=3, L=4, S=5, E=7, F=7, embed=21, key_dim=13, value_dim=26),),
    "one-head": (Case("one-head-1", B=2, H=1, L=4, S=5, E=7, F=7, embed=7),),
    "many-heads": (Case("many-heads-1", B=2, H=16, L=4, S=5, E=3, F=3, embed=48),),
    # an even number of heads and more than one sample, or PyTorch's fast path is not taken
    "self": (Case("self-1", B=3, H=4, L=5, S=5, E=7, F=7, embed=28),),
    "realistic": (
        Case("realistic-1", B=2, H=4, L=33, S=47, E=16, F=16, embed=64),
        Case("realistic-2", B=2, H=4, L=33, S=47, E=16, F=16, embed=64, key_dim=40, value_dim=56, bias=False),
    ),
    # -- sinusoidal
    # widths are even, and 4 at least: every layout and every choice of frequencies has them
    "sinusoidal": (
        Case("sinusoidal-1", B=2, H=3, L=7,  S=11, E=8, F=13, multiple=2, reads="x({B}, {L}, {E})"),
        Case("sinusoidal-2", B=3, H=2, L=11, S=7,  E=6, F=13, multiple=2, reads="x({B}, {L}, {E})"),
    ),
    "sinusoidal-one": (Case("sinusoidal-1", B=2, H=3, L=7, S=11, E=8, F=13, multiple=2, reads="x({B}, {L}, {E})"),),
    "sinusoidal-batches": (
        Case("sinusoidal-batch-is-L-1", B=5, H=3, L=5, S=7, E=8, F=11, multiple=2, reads="x({B}, {L}, {E})"),
        Case("sinusoidal-batches-2",    B=7, H=3, L=5, S=4, E=6, F=11, multiple=2, reads="x({B}, {L}, {E})"),
    ),
    "sinusoidal-edges": (
        Case("sinusoidal-one-token-1",  B=3, H=2, L=1, S=7, E=8, F=5,  multiple=2, reads="x({B}, {L}, {E})"),
        Case("sinusoidal-one-sample-2", B=1, H=3, L=7, S=5, E=6, F=11, multiple=2, reads="x({B}, {L}, {E})"),
        Case("sinusoidal-narrow-3",     B=2, H=3, L=7, S=5, E=4, F=11, multiple=2, reads="x({B}, {L}, {E})"),
    ),
    "sinusoidal-odd": (
        Case("sinusoidal-odd-1", B=2, H=3, L=7,  S=11, E=5, F=13, reads="x({B}, {L}, {E})"),
        Case("sinusoidal-odd-2", B=3, H=2, L=11, S=6,  E=7, F=13, reads="x({B}, {L}, {E})"),
    ),
    # bfloat16 tells whole numbers apart up to 256, float16 up to 2048
    "sinusoidal-half": (
        Case("sinusoidal-half-1", B=1, H=2, L=2063, S=5, E=22, F=7, multiple=2, reads="x({B}, {L}, {E})"),
    ),
    "sinusoidal-long": (
        Case("sinusoidal-long-1", B=1, H=2, L=4099, S=5, E=6, F=7, dtype=torch.float32,
             multiple=2, reads="x({B}, {L}, {E})"),
    ),
    "sinusoidal-wide": (
        Case("sinusoidal-wide-1", B=2, H=3, L=101, S=5, E=66, F=7, multiple=2, reads="x({B}, {L}, {E})"),
    ),
    # the grid's height is L, its width S
    "sinusoidal-grid": (
        Case("sinusoidal-grid-1", B=1, H=2, L=5, S=7, E=16, F=3, multiple=4, reads="grid({L}, {S}, {E})"),
        Case("sinusoidal-grid-2", B=1, H=2, L=7, S=3, E=8,  F=5, multiple=4, reads="grid({L}, {S}, {E})"),
        Case("sinusoidal-grid-square-3", B=1, H=2, L=5, S=5, E=12, F=3, multiple=4, reads="grid({L}, {S}, {E})"),
    ),
    "sinusoidal-grid-one": (
        Case("sinusoidal-grid-1", B=1, H=2, L=5, S=7, E=16, F=3, multiple=4, reads="grid({L}, {S}, {E})"),
    ),
    "sinusoidal-grid-edges": (
        Case("sinusoidal-grid-row-1",    B=2, H=3, L=1, S=7, E=8, F=5, multiple=4, reads="grid({L}, {S}, {E})"),
        Case("sinusoidal-grid-column-2", B=2, H=3, L=7, S=1, E=8, F=5, multiple=4, reads="grid({L}, {S}, {E})"),
    ),
    "sinusoidal-grid-wide": (
        Case("sinusoidal-grid-wide-1", B=1, H=2, L=21, S=35, E=136, F=7, multiple=4, reads="grid({L}, {S}, {E})"),
    ),
    # -- learned
    # S is the number of positions that the table has rows for
    "learned": (
        Case("learned-1", B=2, H=3, L=7,  S=11, E=5, F=13, reads="x({B}, {L}, {E}), {S} positions"),
        Case("learned-2", B=3, H=2, L=5,  S=13, E=8, F=7,  reads="x({B}, {L}, {E}), {S} positions"),
    ),
    "learned-one": (Case("learned-1", B=2, H=3, L=7, S=11, E=5, F=13, reads="x({B}, {L}, {E}), {S} positions"),),
    "learned-batches": (
        Case("learned-batch-is-L-1", B=5, H=3, L=5, S=9,  E=8, F=11, reads="x({B}, {L}, {E}), {S} positions"),
        Case("learned-batches-2",    B=7, H=3, L=5, S=9,  E=6, F=11, reads="x({B}, {L}, {E}), {S} positions"),
    ),
    "learned-edges": (
        Case("learned-one-token-1",  B=3, H=2, L=1, S=7,  E=8, F=5,  reads="x({B}, {L}, {E}), {S} positions"),
        Case("learned-one-sample-2", B=1, H=3, L=7, S=11, E=6, F=5,  reads="x({B}, {L}, {E}), {S} positions"),
        Case("learned-narrow-3",     B=2, H=3, L=7, S=11, E=1, F=5,  reads="x({B}, {L}, {E}), {S} positions"),
    ),
    # more rows than eight bits count
    "learned-long": (
        Case("learned-long-1", B=2, H=3, L=300, S=311, E=5, F=7, reads="x({B}, {L}, {E}), {S} positions"),
    ),
    "learned-wide": (
        Case("learned-wide-1", B=2, H=3, L=101, S=109, E=66, F=7, reads="x({B}, {L}, {E}), {S} positions"),
    ),
    # -- rotary
    "rotary": (
        Case("rotary-1", B=2, H=3, L=5, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-2", B=3, H=2, L=7, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
    ),
    "rotary-one": (Case("rotary-1", B=2, H=3, L=5, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),),
    "rotary-edges": (
        Case("rotary-one-token-1",  B=2, H=3, L=1, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-one-sample-2", B=1, H=3, L=5, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-one-head-3",   B=3, H=1, L=5, E=4, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-one-pair-4",   B=3, H=4, L=5, E=2, multiple=2, reads="x({B}, {H}, {L}, {E})"),
    ),
    # as many samples as tokens or heads, so that positions along the wrong axis are wrong instead of refused
    "rotary-single": (
        Case("rotary-single-sample-1", B=1, H=3, L=5, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-single-head-2",   B=2, H=1, L=5, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),
    ),
    "rotary-batches": (
        Case("rotary-batch-is-L-1", B=4, H=3, L=4, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-batch-is-H-2", B=3, H=3, L=5, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),
    ),
    "rotary-positions": (
        Case("rotary-positions-1",            B=3, H=2, L=5, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
        Case("rotary-positions-batch-is-L-2", B=4, H=3, L=4, E=6, multiple=2, reads="x({B}, {H}, {L}, {E})"),
    ),
    "rotary-partial": (Case("rotary-partial-1", B=2, H=3, L=5, E=10, multiple=2, reads="x({B}, {H}, {L}, {E})"),),
    "rotary-scaled": (Case("rotary-scaled-1", B=2, H=3, L=5, E=16, multiple=2, reads="x({B}, {H}, {L}, {E})"),),
    # off every tile, and past the integers that bfloat16 (256) and, in float32, float16 (2048) still tell apart
    "rotary-long": (Case("rotary-long-1", B=1, H=2, L=2503, E=8, multiple=2, reads="x({B}, {H}, {L}, {E})"),),
    "rotary-half": (Case("rotary-half-1", B=1, H=2, L=2099, E=12, multiple=2, reads="x({B}, {H}, {L}, {E})"),),
    # no more tokens than features: with unit vectors as values the output shows the weights
    "rotary-attention": (
        Case("rotary-attention-1", B=2, H=3, L=6, E=8,  multiple=2, reads="query, key, value ({B}, {H}, {L}, {E})"),
        Case("rotary-attention-2", B=3, H=2, L=5, E=10, multiple=2, reads="query, key, value ({B}, {H}, {L}, {E})"),
    ),
    # -- alibi
    # -- alibi: E > S, so that with V = I the output shows the weights
    "alibi": (
        Case("alibi-1", B=3, H=4, L=5, S=9, E=11, F=7, reads="{H} heads, {S} tokens"),
        Case("alibi-2", B=2, H=8, L=3, S=7, E=13, F=5, reads="{H} heads, {S} tokens"),
    ),
    "alibi-powers": tuple(
        Case(f"alibi-powers-{H}", B=3, H=H, L=5, S=9, E=11, F=7, reads="{H} heads, {S} tokens")
        for H in (1, 2, 4, 8, 16, 32)
    ),
    "alibi-others": tuple(
        Case(f"alibi-others-{H}", B=4, H=H, L=2, S=9, E=13, F=7, reads="{H} heads, {S} tokens")
        for H in (3, 5, 6, 12, 24, 40)
    ),
    "alibi-edges": (
        Case("alibi-one-token-1", B=3, H=2, L=6, S=1, E=7, F=5, reads="{H} heads, {S} tokens"),
        Case("alibi-one-head-2", B=3, H=1, L=6, S=5, E=7, F=8, reads="{H} heads, {S} tokens"),
        Case("alibi-other-heads-3", B=2, H=6, L=3, S=7, E=8, F=5, reads="{H} heads, {S} tokens"),
    ),
    "alibi-long": (Case("alibi-long-1", B=3, H=2, L=5, S=300, E=301, F=7, reads="{H} heads, {S} tokens"),),
    "alibi-cached": (
        Case("alibi-cached-1", B=3, H=4, L=2, S=9, E=11, F=7, reads="{H} heads, {L} queries, {S} keys"),
        Case("alibi-cached-2", B=3, H=2, L=1, S=6, E=7, F=5, reads="{H} heads, {L} queries, {S} keys"),
        Case("alibi-cached-3", B=3, H=8, L=6, S=7, E=11, F=5, reads="{H} heads, {L} queries, {S} keys"),
    ),
    # -- relative_bias: E > S, as above
    "relative": (
        Case("relative-1", B=3, H=2, L=5, S=11, E=13, F=7, reads="{H} heads, {S} tokens"),
        Case("relative-2", B=2, H=5, L=3, S=12, E=14, F=7, reads="{H} heads, {S} tokens"),
    ),
    "relative-one": (Case("relative-1", B=3, H=2, L=5, S=11, E=13, F=7, reads="{H} heads, {S} tokens"),),
    "relative-edges": (
        Case("relative-one-token-1", B=3, H=2, L=6, S=1, E=7, F=5, reads="{H} heads, {S} tokens"),
        Case("relative-one-head-2", B=3, H=1, L=6, S=5, E=7, F=8, reads="{H} heads, {S} tokens"),
    ),
    "relative-long": (Case("relative-long-1", B=3, H=2, L=127, S=140, E=141, F=7, reads="{H} heads, {S} tokens"),),
    "relative-sizes": (Case("relative-sizes-1", B=3, H=2, L=5, S=15, E=17, F=7, reads="{H} heads, {S} tokens"),),
    "relative-uneven": (
        Case("relative-uneven-1", B=3, H=2, L=4, S=11, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
        Case("relative-uneven-2", B=3, H=2, L=11, S=5, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
        Case("relative-uneven-3", B=3, H=2, L=1, S=9, E=13, F=7, reads="{H} heads, {L} queries, {S} keys"),
    ),
    # -- fourier: L points of E coordinates, S frequencies, H random directions
    "fourier": (
        Case("fourier-1",           B=4, H=6, L=7, S=5, E=3,  F=9, reads=ENCODED),
        Case("fourier-two-by-six-2", B=3, H=4, L=5, S=6, E=2,  F=7, reads=ENCODED),
        Case("fourier-one-of-one-3", B=3, H=4, L=6, S=5, E=1,  F=7, reads=ENCODED),
        Case("fourier-one-point-4",  B=3, H=4, L=1, S=2, E=5,  F=7, reads=ENCODED),
    ),
    "fourier-high": (Case("fourier-high-1", B=3, H=4, L=11, S=10, E=2, F=7, reads=ENCODED),),
    "fourier-learn": (
        Case("fourier-learn-1", B=3, H=4, L=11, S=5, E=2, F=7, fixed=True, reads="x(800, {E}), {S} frequencies"),
    ),
    "random-fourier": (
        Case("random-fourier-1", B=2, H=5, L=7, S=4, E=3, F=9, reads="x({L}, {E}), {H} directions"),
        Case("random-fourier-one-coordinate-2", B=4, H=3, L=5, S=2, E=1, F=9, reads="x({L}, {E}), {H} directions"),
    ),
    # -- coordinate_mlp: L points of E coordinates, S frequencies, layers of H and B units, out_dim colours
    "coordinate_mlp": (
        Case("coordinate-1",     B=7, H=9, L=6, S=4, E=2, F=8, out_dim=3, reads=NETWORK),
        Case("coordinate-two-2", B=5, H=4, L=9, S=2, E=3, F=8, out_dim=1, reads=NETWORK),
    ),
    "coordinate-mlp-deep": (
        Case("coordinate-deep-1", B=7, H=5, L=6, S=4, E=2, F=8, out_dim=3, reads=DEEP),
    ),
    # -- layer_norm
    # few features, or the variance's divisor could not be told; S and H are further axes that are normalized with E
    "layer-norm": (
        Case("layer-norm-1", B=2, H=6, L=5, S=7, E=3, F=8, reads="x({B}, {L}, {E})"),
        Case("layer-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
    ),
    "layer-norm-one": (Case("layer-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),),
    "layer-norm-edges": (
        Case("layer-norm-one-token-1",  B=3, H=2, L=1, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
        Case("layer-norm-one-sample-2", B=1, H=2, L=7, S=6, E=4, F=5, reads="x({B}, {L}, {E})"),
    ),
    "layer-norm-narrow": (
        Case("layer-norm-two-features-1", B=3, H=4, L=5, S=7, E=2, F=6, reads="x({B}, {L}, {E})"),
        Case("layer-norm-one-feature-2",  B=3, H=2, L=5, S=7, E=1, F=4, reads="x({B}, {L}, {E})"),
    ),
    "layer-norm-batches": (
        Case("layer-norm-batch-is-L-1", B=4, H=3, L=4, S=7, E=5, F=6, reads="x({B}, {L}, {E})"),
        Case("layer-norm-batches-2",    B=7, H=4, L=2, S=6, E=5, F=3, reads="x({B}, {L}, {E})"),
    ),
    "layer-norm-axes": (
        Case("layer-norm-axes-1", B=5, H=2, L=7, S=3, E=4, F=6, reads="x({B}, {L}, {H}, {S}, {E})"),
        Case("layer-norm-axes-2", B=2, H=3, L=4, S=6, E=5, F=7, reads="x({B}, {L}, {H}, {S}, {E})"),
    ),
    "layer-norm-wide": (Case("layer-norm-wide-1", B=2, H=4, L=3, S=5, E=1043, F=7, reads="x({B}, {L}, {E})"),),
    "layer-norm-long": (Case("layer-norm-long-1", B=1, H=4, L=3, S=5, E=4099, F=7, reads="x({B}, {L}, {E})"),),
    # -- rms_norm
    "rms-norm": (
        Case("rms-norm-1", B=2, H=6, L=5, S=7, E=3, F=8, reads="x({B}, {L}, {E})"),
        Case("rms-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
    ),
    "rms-norm-one": (Case("rms-norm-2", B=3, H=2, L=7, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),),
    "rms-norm-edges": (
        Case("rms-norm-one-token-1",  B=3, H=2, L=1, S=6, E=5, F=4, reads="x({B}, {L}, {E})"),
        Case("rms-norm-one-sample-2", B=1, H=2, L=7, S=6, E=4, F=5, reads="x({B}, {L}, {E})"),
    ),
    "rms-norm-narrow": (
        Case("rms-norm-two-features-1", B=3, H=4, L=5, S=7, E=2, F=6, reads="x({B}, {L}, {E})"),
        Case("rms-norm-one-feature-2",  B=3, H=2, L=5, S=7, E=1, F=4, reads="x({B}, {L}, {E})"),
    ),
    "rms-norm-batches": (
        Case("rms-norm-batch-is-L-1", B=4, H=3, L=4, S=7, E=5, F=6, reads="x({B}, {L}, {E})"),
        Case("rms-norm-batches-2",    B=7, H=4, L=2, S=6, E=5, F=3, reads="x({B}, {L}, {E})"),
    ),
    "rms-norm-wide": (Case("rms-norm-wide-1", B=2, H=4, L=3, S=5, E=1043, F=7, reads="x({B}, {L}, {E})"),),
    "rms-norm-long": (Case("rms-norm-long-1", B=1, H=4, L=3, S=5, E=4099, F=7, reads="x({B}, {L}, {E})"),),
    # -- feed_forward: S is the hidden width, E that of the model
    "feed_forward": (
        Case("feed-forward-1",        B=2, H=3, L=5, S=11, E=7, F=13, reads="x({B}, {L}, {E}), {S} hidden"),
        Case("feed-forward-narrow-2", B=3, H=2, L=7, S=4,  E=6, F=9,  reads="x({B}, {L}, {E}), {S} hidden"),
    ),
    "feed-forward-one": (Case("feed-forward-1", B=2, H=3, L=5, S=11, E=7, F=13, reads="x({B}, {L}, {E}), {S} hidden"),),
    "feed-forward-batches": (
        Case("feed-forward-batch-is-L-1", B=4, H=3, L=4, S=9, E=6, F=7,  reads="x({B}, {L}, {E}), {S} hidden"),
        Case("feed-forward-batches-2",    B=7, H=3, L=5, S=4, E=6, F=11, reads="x({B}, {L}, {E}), {S} hidden"),
    ),
    "feed-forward-edges": (
        Case("feed-forward-one-token-1",  B=3, H=2, L=1, S=8,  E=5, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
        Case("feed-forward-one-sample-2", B=1, H=3, L=6, S=9,  E=4, F=5, reads="x({B}, {L}, {E}), {S} hidden"),
        Case("feed-forward-one-hidden-3", B=3, H=2, L=4, S=1,  E=5, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
        Case("feed-forward-wide-4",       B=2, H=4, L=5, S=29, E=3, F=7, reads="x({B}, {L}, {E}), {S} hidden"),
    ),
    "feed-forward-half": (
        Case("feed-forward-half-1", B=2, H=3, L=17, S=41, E=24, F=5, reads="x({B}, {L}, {E}), {S} hidden"),
    ),
    # -- encoder
    # heads of E features, F hidden ones
    "encoder": (
        Case("encoder-1", B=2, H=3, L=5, S=11, E=4, F=13, reads=LAYER),
        Case("encoder-2", B=3, H=2, L=6, S=11, E=8, F=7,  reads=LAYER),
    ),
    "encoder-one": (Case("encoder-1", B=2, H=3, L=5, S=11, E=4, F=13, reads=LAYER),),
    "encoder-edges": (
        Case("encoder-one-token-1",  B=3, H=2, L=1, S=7, E=4, F=5,  reads=LAYER),
        Case("encoder-one-sample-2", B=1, H=3, L=5, S=7, E=4, F=11, reads=LAYER),
        Case("encoder-one-head-3",   B=2, H=1, L=4, S=7, E=6, F=3,  reads=LAYER),
    ),
    # as many samples as tokens, where the two axes can be mixed up without an error
    "encoder-batches": (Case("encoder-batch-is-L-1", B=4, H=2, L=4, S=7, E=6, F=5, reads=LAYER),),
    # an even number of heads and more than one sample, or PyTorch's fast path is not taken
    "encoder-even": (Case("encoder-even-1", B=3, H=4, L=5, S=7, E=6, F=11, reads=LAYER),),
    "encoder-wide": (Case("encoder-wide-1", B=2, H=4, L=9, S=7, E=16, F=56, reads=LAYER),),
    "encoder-learn": (
        Case("encoder-learn-1", B=32, H=4, L=10, S=7, E=8, F=64, dtype=torch.float32, fixed=True,
             reads="x({B}, {L}, 32), 200 steps"),
    ),
    # -- decoder
    # heads of E features, F hidden ones; memory longer and shorter than the targets
    "decoder-one": (Case("decoder-1", B=2, H=3, L=5, S=7, E=4, F=11, reads=TARGETS),),
    # memory as long as the targets, where a causal mask fits both attentions
    "decoder-lengths": (
        Case("decoder-longer-1",  B=2, H=3, L=4, S=6, E=5, F=7, reads=TARGETS),
        Case("decoder-shorter-2", B=2, H=3, L=5, S=4, E=6, F=7, reads=TARGETS),
        Case("decoder-square-3",  B=2, H=3, L=5, S=5, E=4, F=7, reads=TARGETS),
    ),
    "decoder-edges": (
        Case("decoder-one-target-1", B=3, H=2, L=1, S=7, E=4, F=5,  reads=TARGETS),
        Case("decoder-one-memory-2", B=3, H=2, L=5, S=1, E=4, F=7,  reads=TARGETS),
        Case("decoder-one-sample-3", B=1, H=3, L=5, S=7, E=4, F=11, reads=TARGETS),
        Case("decoder-one-head-4",   B=3, H=1, L=4, S=5, E=6, F=7,  reads=TARGETS),
    ),
    "decoder-square": (Case("decoder-square-3", B=2, H=3, L=5, S=5, E=4, F=7, reads=TARGETS),),
    "decoder-short": (Case("decoder-short-1", B=2, H=3, L=4, S=6, E=5, F=7, reads=TARGETS),),
    # as many samples as targets, where both axes fit a mask
    "decoder-batches": (Case("decoder-batch-is-L-1", B=4, H=2, L=4, S=6, E=3, F=5, reads=TARGETS),),
    "decoder-wide": (Case("decoder-wide-1", B=2, H=4, L=6, S=7, E=8, F=27, reads=TARGETS),),
    # -- transformer
    "transformer-learn": (
        Case("transformer-learn-1", B=32, H=4, L=5, S=7, E=8, F=64, dtype=torch.float32, fixed=True,
             reads="source({B}, {L}), target({B}, {L}), 400 steps"),
    ),
    "transformer": (Case("transformer-1", B=3, H=2, L=5, S=6, E=4, F=7, multiple=2, reads=TOKENS),),
    # a source shorter than the target; one token, one sample
    "transformer-edges": (
        Case("transformer-shorter-1",    B=4, H=3, L=6, S=5, E=2, F=7, multiple=2, reads=TOKENS),
        Case("transformer-one-target-2", B=3, H=2, L=1, S=6, E=4, F=7, multiple=2, reads=TOKENS),
        Case("transformer-one-source-3", B=3, H=2, L=5, S=1, E=4, F=7, multiple=2, reads=TOKENS),
        Case("transformer-one-sample-4", B=1, H=2, L=5, S=6, E=4, F=7, multiple=2, reads=TOKENS),
    ),
    # as many samples as targets, and as source tokens
    "transformer-batches": (
        Case("transformer-batch-is-L-1", B=4, H=2, L=4, S=5, E=6, F=7, multiple=2, reads=TOKENS),
        Case("transformer-batch-is-S-2", B=5, H=2, L=4, S=5, E=6, F=7, multiple=2, reads=TOKENS),
    ),
    # a source as long as the target, where one's mask fits the other
    "transformer-square": (Case("transformer-square-1", B=3, H=2, L=5, S=5, E=4, F=7, multiple=2, reads=TOKENS),),
    # more positions than bfloat16 counts
    "transformer-long": (Case("transformer-long-1", B=1, H=2, L=261, S=3, E=4, F=7, multiple=2, reads=TOKENS),),
    # -- token_embedding
    # -- tokenizer: L words of a text and S of a corpus, of at most F letters out of E, H merges; the other checks write
    # their texts themselves, and say them
    "tokenizer": (
        Case("tokenizer-1", B=2, H=17, L=9, S=31, E=4, F=7, reads=SPOKEN, numeric=False),
        Case("tokenizer-2", B=4, H=23, L=8, S=29, E=3, F=6, reads=SPOKEN, numeric=False),
    ),
    "tokenizer-edges": (
        Case("tokenizer-one-word-1",   B=2, H=4, L=1, S=7, E=3, F=5, reads=SPOKEN, numeric=False),
        Case("tokenizer-one-letter-2", B=2, H=3, L=5, S=8, E=1, F=6, reads=SPOKEN, numeric=False),
    ),
    "tokenizer-written": (
        Case("tokenizer-written-1", B=2, H=3, L=5, S=8, E=4, F=6, reads="texts written for it", numeric=False),
    ),
    # longer than the hundred letters at which some give up
    "tokenizer-long": (
        Case("tokenizer-long-1", B=2, H=3, L=131, S=8, E=4, F=6, reads="a word of {L} letters", numeric=False),
    ),
    # -- token_embedding: S ids in the vocabulary; vectors of E features, with attention of H·E
    "token": (
        Case("token-1", B=2, H=3, L=5, S=11, E=4, F=7, multiple=2, reads=IDS),
        Case("token-2", B=3, H=2, L=7, S=13, E=8, F=5, multiple=2, reads=IDS),
    ),
    "token-one": (Case("token-1", B=2, H=3, L=5, S=11, E=4, F=7, multiple=2, reads=IDS),),
    "token-batches": (
        Case("token-batch-is-L-1", B=5, H=2, L=5, S=11, E=4, F=7, multiple=2, reads=IDS),
        Case("token-batches-2",    B=7, H=3, L=5, S=9,  E=4, F=2, multiple=2, reads=IDS),
    ),
    "token-edges": (
        Case("token-one-token-1",  B=3, H=2, L=1, S=9,  E=6, F=7, multiple=2, reads=IDS),
        Case("token-one-sample-2", B=1, H=2, L=7, S=11, E=4, F=5, multiple=2, reads=IDS),
        Case("token-one-head-3",   B=3, H=1, L=5, S=9,  E=8, F=7, multiple=2, reads=IDS),
    ),
    # more ids than eight bits count
    "token-many": (Case("token-many-1", B=2, H=3, L=5, S=311, E=4, F=7, multiple=2, reads=IDS),),
    # -- throughput: what is counted, not measured; of a tile of 16 tokens there is no second
    "throughput": (
        Case("throughput-1", B=2, H=3, L=5, S=7, E=4, F=11, dtype=torch.float32, multiple=2, fixed=True, reads=COUNTED),
    ),
    # memory is that of what is as long as the sequence, or as long and as wide
    "throughput-long": (
        Case("throughput-long-1", B=1, H=2, L=59, S=67, E=16, F=11, dtype=torch.float32, multiple=2, fixed=True,
             reads=COUNTED),
    ),
}
# fmt: on


@cache
def family(name: str, seed: int, device: str, value_width: bool) -> tuple[Case, ...]:
    """Return the cases of a family for one seed and device.

    Without ``value_width`` (a component whose values are as wide as its keys) F becomes E.
    """
    cases = FAMILIES[name]
    if not value_width:
        cases = tuple(case.but(F=case.E) for case in cases)
    return tuple(case.but(seed=seed, device=device) for case in cases)
