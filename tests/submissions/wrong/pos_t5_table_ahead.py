"""T5's bias in NumPy: a function of a named tuple that holds the table."""

import math
from typing import NamedTuple

import numpy as np


class Learned(NamedTuple):
    rows: np.ndarray  # (buckets, heads)


def fresh(rng, heads, buckets=32):
    return Learned(rng.standard_normal((buckets, heads)) * 0.1)


def bucket_of(distance, buckets, farthest, both_ways):
    if both_ways:
        half = buckets // 2
        return half * (distance > 0) + bucket_of(np.abs(distance), half, farthest, False)
    back = np.maximum(distance, 0)
    exact = buckets // 2
    steps = np.log(np.maximum(back, 1) / exact) / math.log(farthest / exact) * (buckets - exact)
    return np.where(back < exact, back, np.minimum(exact + steps.astype(int), buckets - 1))


def relative_bias(learned: Learned, q_len, k_len, *, bidirectional=True, max_distance=128):
    distance = np.arange(k_len) - np.arange(q_len)[:, None]
    found = bucket_of(distance, len(learned.rows), max_distance, bidirectional)
    return learned.rows[found].transpose(2, 0, 1)
