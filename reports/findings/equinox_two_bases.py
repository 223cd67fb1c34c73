"""equinox.nn.RotaryPositionalEmbedding: a second one with another theta turns by the angles of the first.

Requirement: ROPE-BASE-1
Project: equinox 0.13.8
On it: https://github.com/patrick-kidger/equinox/pull/735 made theta an argument, and shows the table of angles as it
    is kept, by the width of the embedding; merged.
This is: a bug: the table is kept by width and dtype, and theta is not a part of its key.

Prints:

    theta=100 after theta=10000: the same
    theta=100 alone: another
"""

import equinox as eqx
import jax.numpy as jnp

x = jnp.ones((4, 8))
first = eqx.nn.RotaryPositionalEmbedding(8, theta=10_000.0)(x)
second = eqx.nn.RotaryPositionalEmbedding(8, theta=100.0)(x)
print("theta=100 after theta=10000:", "the same" if (first == second).all() else "another")
eqx.clear_caches()
alone = eqx.nn.RotaryPositionalEmbedding(8, theta=100.0)(x)
print("theta=100 alone:", "the same" if (first == alone).all() else "another")
