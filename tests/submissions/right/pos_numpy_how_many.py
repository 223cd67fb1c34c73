"""Sine and cosine positions, after a course on sequence models (NumPy)."""
import numpy as np


def angles(pos, column, width):
    return pos / 10000 ** (2 * (column // 2) / width)


def position_table(positions: int, width: int):
    """Returns (1, positions, width)."""
    table = angles(np.arange(positions)[:, None], np.arange(width)[None, :], width)
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return table[None]
