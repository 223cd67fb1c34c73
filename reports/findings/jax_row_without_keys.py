"""jax.nn.dot_product_attention: a query without keys gets the mean of all values, or NaN, by how they are hidden.

Requirement: MASK-EMPTY-5
Project: jax 0.10.2
On it: https://github.com/jax-ml/jax/pull/32789 put the bias into the documented formula, of which NaN follows; merged.
    What a mask gives where it hides all keys is not said.
This is: an ambiguity: nobody says what such a query gets, and two ways to hide its keys differ.

Prints:

    mask: the mean of the values
    bias: NaN
"""

import jax
import jax.numpy as jnp
import numpy as np

query, key, value = jnp.asarray(np.random.default_rng(0).standard_normal((3, 1, 3, 1, 4)), dtype=jnp.float32)
masked = jax.nn.dot_product_attention(query, key, value, mask=jnp.zeros((1, 1, 3, 3), dtype=bool))
biased = jax.nn.dot_product_attention(query, key, value, bias=jnp.full((1, 1, 3, 3), -jnp.inf))
print("mask:", "the mean of the values" if jnp.allclose(masked, value.mean(1, keepdims=True), atol=1e-6) else masked)
print("bias:", "NaN" if jnp.isnan(biased).all() else biased)
