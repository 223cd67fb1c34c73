import numpy as np


def encode_axes(coords, n_bands, top_freq):
    """coords (N, D), from -1 to 1. For each axis: itself at the very front, then sines of its bands, then cosines.

    The n_bands frequencies lie evenly between 1 and top_freq / 2.
    """
    bands = np.linspace(1, top_freq / 2, n_bands)
    columns = [coords]
    for axis in range(coords.shape[-1]):
        phase = np.pi * coords[..., axis, None] * bands
        columns += [np.sin(phase), np.cos(phase)]
    return np.concatenate(columns, axis=-1)
