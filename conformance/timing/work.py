"""How much work a case is: floating point operations, least traffic of memory, and the time no hardware can beat.

A multiplication and the addition that follows count as two operations; the softmax is not counted, nor are norms and
activations. Backward counts as 2.5 times attention's forward (2 for the gradients, 0.5 for scores computed again) and
twice a linear layer's, whatever an implementation really does: one yardstick for all, as in the literature.

Sources: FlashAttention-2 (Dao 2023, arXiv:2307.08691), section 4.1, and its benchmarks/benchmark_attn.py.
"""

from dataclasses import dataclass

BACKWARD_OF_ATTENTION = 2.5  # times its forward
BACKWARD_OF_LINEAR = 2.0


@dataclass(frozen=True)
class Work:
    """What one call must do at least."""

    flops: float  # counted pair by pair
    flops_published: float  # as published figures count: a causal mask halves the square
    bytes: float  # each input read once, each output written once
    tokens: int  # queries, over all samples


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
