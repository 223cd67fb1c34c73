# positions of image patches, as in masked autoencoders (numpy only)
import numpy as np


def one_axis(width, coords):
    assert width % 2 == 0
    omega = 1.0 / 10000 ** (np.arange(width // 2, dtype=np.float64) / (width / 2))
    phase = np.outer(coords.ravel(), omega)
    return np.hstack([np.sin(phase), np.cos(phase)])


def patch_positions(width, rows, cols):
    """(rows, cols, width): the first half of the features knows the column, the second one the row"""
    if width % 4:
        raise ValueError("width must be a multiple of 4")
    y, x = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
    table = np.concatenate([one_axis(width // 2, x), one_axis(width // 2, y)], axis=1)
    return table.reshape(rows, cols, width)
