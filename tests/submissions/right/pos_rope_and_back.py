"""Rotary positions in NumPy, by complex numbers, and the way back."""
import numpy as np


def rotate(x, positions=None, base=10_000.0):
    """Turn neighbouring pairs of x (..., tokens, width) by their positions, 0, 1, … where none are given."""
    tokens, width = x.shape[-2:]
    at = np.arange(tokens) if positions is None else np.asarray(positions)
    speed = base ** (-np.arange(0, width, 2) / width)
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * at[..., None] * speed)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def unrotate(x, positions=None, base=10_000.0):
    """Undo it: what the gradient needs."""
    at = np.arange(x.shape[-2]) if positions is None else np.asarray(positions)
    return rotate(x, -at, base)
