"""A coordinate MLP: from the coordinates of a pixel to its colour, through Fourier features.

Symbols as in spec/coordinate_mlp.md: N points, d coordinates, W width of the features, C colours.
"""

from collections.abc import Mapping, Sequence

from torch import Tensor, einsum

from attnconf.reference.fourier import fourier


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return x Wᵀ + b: x (N, I), weight (O, I), bias (O,), out (N, O)."""
    return einsum("ni,oi->no", x, weight) + bias


def layers(x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the linear layers 0, 1, … of ``weights``, one after the other, with ReLU between them."""
    depth = len(weights) // 2
    for i in range(depth):
        x = linear(x, weights[f"{i}.weight"], weights[f"{i}.bias"])
        if i < depth - 1:
            x = x.relu()
    return x


def coordinate_mlp(x: Tensor, frequencies: Sequence[float], weights: Mapping[str, Tensor]) -> Tensor:
    """Return a colour for every point: x (N, d), out (N, C)."""
    return layers(fourier(x, frequencies), weights)
