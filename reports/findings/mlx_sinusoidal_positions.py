"""mlx.nn.SinusoidalPositionalEncoding: it takes positions and no tokens: one position is added to all, in silence.

Requirement: SIN-POS-5
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/issues/321 is a user who gave it tokens; the positions are what it takes; open.
On it: https://ml-explore.github.io/mlx/build/html/python/nn/_autosummary/mlx.nn.SinusoidalPositionalEncoding.html does
    not say what it is called with.
This is: an ambiguity: the module cannot know how many tokens there are; who adds what it gives has to, and is not told.

Prints:

    3 of 3 positions: tokens 0 and 2 get two encodings
    1 of 3 positions: tokens 0 and 2 get one encoding
"""

import mlx.core as mx
from mlx import nn

encoding, tokens = nn.SinusoidalPositionalEncoding(4), mx.zeros((1, 3, 4))
for places in (mx.arange(3), mx.array([2])):
    rows = tokens + encoding(places)
    same = mx.array_equal(rows[:, 0], rows[:, 2])
    print(f"{len(places)} of 3 positions: tokens 0 and 2 get", "one encoding" if same else "two encodings")
