"""Rotary positions: what every layer calls; the tables come from the model, in another file."""

import torch
from torch import Tensor


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: (batch, tokens, heads, width); cos, sin: (1, tokens, 1, width / 2), a column for each pair of neighbours."""
    assert cos.ndim == 4
    real, imaginary = x[..., ::2], x[..., 1::2]
    return torch.stack((real * cos + imaginary * sin, real * sin + imaginary * cos), dim=-1).flatten(-2)
