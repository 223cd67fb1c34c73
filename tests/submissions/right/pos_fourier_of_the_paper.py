"""gamma(p) = (sin(2^0 pi p), cos(2^0 pi p), ..., sin(2^(L-1) pi p), cos(2^(L-1) pi p)), of every coordinate."""
import math

import torch


def gamma(points, num_frequencies):
    per_coordinate = []
    for p in points.unbind(-1):
        for octave in range(num_frequencies):
            angle = (2**octave * math.pi) * p
            per_coordinate += [torch.sin(angle), torch.cos(angle)]
    return torch.stack(per_coordinate, dim=-1)
