"""T5's bias by distance, in NumPy: a table of numbers, (buckets, heads), is the caller's."""

import numpy as np


def bucket_of(distance, buckets, farthest):
    half = buckets // 2
    side = np.where(distance > 0, half, 0)
    far = np.abs(distance)
    near = half // 2
    with np.errstate(divide="ignore"):
        share = np.log(np.maximum(far, 1) / near) / np.log(farthest / near)
    coarse = np.minimum(near + np.floor(share * (half - near)), half - 1)
    return (side + np.where(far < near, far, coarse)).astype(np.int64)


class RelativeDistances:
    def __init__(self, table, max_distance=128):
        self.table, self.max_distance = table, max_distance

    def __call__(self, queries, keys):
        """queries, keys: how many -> (heads, queries, keys)"""
        distance = np.arange(keys)[None, :] - np.arange(queries)[:, None]
        return np.moveaxis(self.table[bucket_of(distance, len(self.table), self.max_distance)], -1, 0)
