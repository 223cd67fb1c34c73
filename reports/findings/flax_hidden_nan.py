"""flax.linen's attention: NaN in a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: flax 0.12.8
On it: https://github.com/google/flax/blob/main/flax/linen/attention.py replaces hidden scores by the least finite
    number; nothing was found on hidden values.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it.

Prints:

    hidden value 10000000000.0: of 24 features 0 are NaN, in MultiHeadDotProductAttention 0
    hidden value nan: of 24 features 24 are NaN, in MultiHeadDotProductAttention 24
"""

import flax.linen as nn
import jax
import jax.numpy as jnp

layer, keep = nn.MultiHeadDotProductAttention(2), jnp.array([True, True, False])[None, None, None]
x = jax.random.normal(jax.random.key(0), (1, 3, 8))
parameters = layer.init(jax.random.key(1), x, x, x)
for hidden in (1e10, jnp.nan):
    spoilt = x.at[:, 2].set(hidden)
    out = nn.dot_product_attention(x[..., None, :], x[..., None, :], spoilt[..., None, :], mask=keep)
    whole = layer.apply(parameters, x, x, spoilt, mask=keep)
    count = [int(jnp.isnan(y).sum()) for y in (out, whole)]
    print(f"hidden value {hidden}: of 24 features {count[0]} are NaN, in MultiHeadDotProductAttention {count[1]}")
