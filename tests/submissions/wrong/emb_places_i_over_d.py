import math

import numpy as np


class TokenAndPlace:
    """Vectors of tokens, made larger by the root of their width, and the place of each in sines and cosines."""

    def __init__(self, vectors, longest=512):
        self.vectors = np.asarray(vectors)
        width = self.vectors.shape[-1]
        pair = np.arange(width // 2)
        turns = np.arange(longest)[:, None] * np.exp(-math.log(10000.0) * pair / width)
        self.places = np.stack([np.sin(turns), np.cos(turns)], axis=-1).reshape(longest, width)

    def __call__(self, tokens):
        n = tokens.shape[-1]
        return np.sqrt(self.vectors.shape[-1]) * self.vectors[tokens] + self.places[:n]
