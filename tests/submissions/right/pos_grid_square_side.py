# Position table for square images, as patch models are given it.
import numpy as np


def sincos_table(embed_dim, grid_size, add_cls=False):
    """(grid_size², embed_dim), row after row; with add_cls one row of zeros stands in front"""
    assert embed_dim % 4 == 0, "two axes, each with sines and cosines"
    down, across = np.divmod(np.arange(grid_size * grid_size), grid_size)
    table = np.hstack([one_axis(embed_dim // 2, across), one_axis(embed_dim // 2, down)])
    if add_cls:
        table = np.vstack([np.zeros((1, embed_dim)), table])
    return table


def one_axis(width, where):
    rates = 10000.0 ** (-np.arange(width // 2) / (width // 2))
    turned = np.outer(where, rates)
    return np.hstack([np.sin(turned), np.cos(turned)])
