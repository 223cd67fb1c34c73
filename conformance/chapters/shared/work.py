"""How much work a case is: floating point operations, least traffic of memory, and the time no hardware can beat.

A multiplication and the addition that follows count as two operations; the softmax is not counted, nor are norms and
activations. Backward counts as 2.5 times attention's forward (2 for the gradients, 0.5 for scores computed again) and
twice a linear layer's, whatever an implementation really does: one yardstick for all, as in the literature.

Sources: FlashAttention-2 (Dao 2023, arXiv:2307.08691), section 4.1, and its benchmarks/benchmark_attn.py.
"""

from dataclasses import dataclass
from typing import Protocol

import torch

BACKWARD_OF_ATTENTION = 2.5  # times its forward
BACKWARD_OF_LINEAR = 2.0


@dataclass(frozen=True)
class Work:
    """What one call must do at least."""

    flops: float  # counted pair by pair
    flops_published: float  # as published figures count: a causal mask halves the square
    bytes: float  # each input read once, each output written once
    tokens: int  # queries, over all samples


class Sizes(Protocol):
    """The sizes of a call that is timed: B samples, H heads, L queries, E features of a head."""

    @property
    def B(self) -> int: ...
    @property
    def H(self) -> int: ...
    @property
    def L(self) -> int: ...
    @property
    def E(self) -> int: ...
    @property
    def keys(self) -> int: ...
    @property
    def kv_heads(self) -> int: ...  # 0: as many as H
    @property
    def width(self) -> int: ...  # of the model
    @property
    def hidden(self) -> int: ...  # width of the feed-forward network, 0 where there is none
    @property
    def causal(self) -> bool: ...
    @property
    def passes(self) -> str: ...  # forward, backward or both
    @property
    def torch_dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> str: ...


@dataclass(frozen=True)
class Roof:
    """The least seconds that the work takes on a machine of these peaks, and what binds: "compute" or "memory"."""

    seconds: float
    bound_by: str


def pairs(queries: int, keys: int, causal: bool) -> int:
    """Return how many pairs of query and key are not masked; causal is aligned at the bottom right.

    Raises ValueError where it is causal and there are more queries than keys: some rows would be empty.
    """
    if not causal:
        return queries * keys
    if queries > keys:
        raise ValueError(f"causal with {queries} queries and {keys} keys, want no more queries than keys")
    return queries * keys - queries * (queries - 1) // 2


def pairs_published(queries: int, keys: int, causal: bool) -> float:
    """Return the same by the convention of FlashAttention's benchmarks: the triangle is half the square."""
    return queries * (max(0, keys - queries) + keys) / 2 if causal else float(queries * keys)


def attention_flops(batch: int, heads: int, number_of_pairs: float, key_width: int, value_width: int) -> float:
    """Return the operations of q·k and of weights·v for so many pairs in each head of each sample."""
    return 2.0 * batch * heads * number_of_pairs * (key_width + value_width)


def projection_flops(batch: int, length: int, width: int, heads: int, kv_heads: int, head_width: int) -> float:
    """Return the operations of the projections to queries, keys and values, and of the output's."""
    return 2.0 * batch * length * width * head_width * (2 * heads + 2 * kv_heads)


def feed_forward_flops(batch: int, length: int, width: int, hidden: int, gated: bool = False) -> float:
    return (6.0 if gated else 4.0) * batch * length * width * hidden


def factor(passes: str, backward: float) -> float:
    """Return by what the forward's operations are multiplied: 1, ``backward``, or both together."""
    return {"forward": 1.0, "backward": backward, "both": 1.0 + backward}[passes]


def roof(work: Work, peak_flops: float, peak_bytes: float) -> Roof:
    """Return the roofline time for peaks in operations and in bytes a second."""
    compute, memory = work.flops / peak_flops, work.bytes / peak_bytes
    return Roof(compute, "compute") if compute >= memory else Roof(memory, "memory")


# -- of whole calls


def of_attention(case: Sizes) -> Work:
    """Return the work of scaled dot-product attention."""
    times = factor(case.passes, BACKWARD_OF_ATTENTION)
    counts = (pairs(case.L, case.keys, case.causal), pairs_published(case.L, case.keys, case.causal))
    flops, flops_published = (times * attention_flops(case.B, case.H, n, case.E, case.E) for n in counts)
    return Work(flops, flops_published, _attention_bytes(case), case.B * case.L)


def _attention_bytes(case: Sizes) -> float:
    """Return the bytes of q, k, v and out; backward reads these and dO, and writes dQ, dK and dV."""
    size, kv_heads = case.torch_dtype.itemsize, case.kv_heads or case.H
    queries, keys = case.B * case.H * case.L * case.E * size, case.B * kv_heads * case.keys * case.E * size
    forward, backward = 2 * queries + 2 * keys, 4 * queries + 4 * keys
    return {"forward": forward, "backward": backward, "both": forward + backward}[case.passes]


def _linears(case: Sizes) -> float:
    """Return the operations of the linear layers beside attention, in this pass."""
    flops = projection_flops(case.B, case.L, case.width, case.H, case.H, case.E)
    if case.hidden:
        flops += feed_forward_flops(case.B, case.L, case.width, case.hidden)
    return flops * factor(case.passes, BACKWARD_OF_LINEAR)


def of_layer(case: Sizes) -> Work:
    """Return the work of multi-head self-attention, or of an encoder layer, on (B, L, width)."""
    inside, linears, size = of_attention(case), _linears(case), case.torch_dtype.itemsize
    weights = (4 * case.width**2 + 2 * case.width * case.hidden) * size
    x = case.B * case.L * case.width * size
    forward, backward = 2 * x + weights, 2 * x + 2 * weights
    traffic = {"forward": forward, "backward": backward, "both": forward + backward}[case.passes]
    return Work(inside.flops + linears, inside.flops_published + linears, traffic, inside.tokens)


def of_copying(case: Sizes) -> Work:
    """Return the work of what reads every element and writes it again, as rotary positions and norms do."""
    x = case.B * case.L * case.width * case.torch_dtype.itemsize
    times = {"forward": 2, "backward": 2, "both": 4}[case.passes]
    return Work(0.0, 0.0, times * x, case.B * case.L)
