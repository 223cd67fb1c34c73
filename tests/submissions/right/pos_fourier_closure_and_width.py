"""Encoding of points for a radiance field: a function that makes the encoding, and tells how wide it is."""
from typing import Callable, NamedTuple

import torch


class Encoding(NamedTuple):
    encode: Callable
    width: int


def make_fourier_encoding(octaves, dims=3, keep_input=True):
    scales = [2.0 ** k for k in range(octaves)]

    def encode(points):
        parts = [points] if keep_input else []
        for s in scales:
            parts += [torch.sin(s * points), torch.cos(s * points)]
        return torch.cat(parts, -1)

    return Encoding(encode, dims * (2 * octaves + keep_input))
