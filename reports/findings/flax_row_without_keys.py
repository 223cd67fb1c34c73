"""flax.linen.dot_product_attention: a query without keys gets the mean of all values, or NaN, by how they are hidden.

Requirement: MASK-EMPTY-5
Project: flax 0.12.8
On it: https://github.com/google/flax/issues/982 is the NaN in float16 for which the mask became the least finite
    number; closed.
This is: an ambiguity: nobody says what such a query gets, and two ways to hide its keys differ.

Prints:

    mask: the mean of the values
    bias: NaN
"""

import flax.linen as nn
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
query, key, value = (jnp.asarray(rng.standard_normal((1, 3, 1, 4)), dtype=jnp.float32) for _ in range(3))
hidden = jnp.zeros((1, 1, 3, 3), dtype=bool)
masked = nn.dot_product_attention(query, key, value, mask=hidden)
biased = nn.dot_product_attention(query, key, value, bias=jnp.full((1, 1, 3, 3), -jnp.inf))
print("mask:", "the mean of the values" if jnp.allclose(masked, value.mean(1, keepdims=True)) else masked)
print("bias:", "NaN" if jnp.isnan(biased).all() else biased)
