"""flax.linen.Embed: an id beyond the table gets a row of NaN, and a negative one counts from the end.

Requirement: EMB-BEYOND-1, EMB-NEG-1
Project: flax 0.12.8
On it: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.take.html says that the default mode fills with NaN what
    is out of bounds.
This is: a documented choice: that of JAX, in which an index cannot raise.

Prints:

    id 5 of 5: NaN
    id -1: the row of id 4
"""

import flax.linen as nn
import jax
import jax.numpy as jnp

layer = nn.Embed(num_embeddings=5, features=2)
parameters = layer.init(jax.random.key(0), jnp.zeros(1, dtype=int))
rows = layer.apply(parameters, jnp.array([5, -1, 4]))
print("id 5 of 5:", "NaN" if jnp.isnan(rows[0]).all() else rows[0])
print("id -1:", "the row of id 4" if (rows[1] == rows[2]).all() else rows[1])
