"""Rotary embedding, the half that every layer calls; the tables come from the model, in another file."""

from torch import Tensor, stack


def apply_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: (batch, tokens, heads, width); cos, sin: (1, tokens, 1, width / 2), a column for each pair of neighbours."""
    assert cos.ndim == 4
    real, imaginary = x[..., ::2], x[..., 1::2]
    return stack((real * cos - imaginary * sin, real * sin + imaginary * cos), dim=-1).flatten(-2)
