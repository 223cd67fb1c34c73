"""haiku's MultiHeadAttention: a single value serves all keys, and no error is raised.

Requirement: ATT-ERROR-2
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/attention.py says that keys and values have one
    length T.
This is: a bug: what the text forbids is an error with two values for three keys, and stretched by jnp.einsum with one.

Prints:

    2 values for 3 keys: ValueError: Size of label 'T' for operand 1 (3) does not match previous terms (2).
    1 value for 3 keys: as if it stood three times
"""

import haiku as hk
import jax
import jax.numpy as jnp

layer = hk.transform(lambda *given: hk.MultiHeadAttention(2, 4, w_init=hk.initializers.TruncatedNormal())(*given))
x = jax.random.normal(jax.random.key(0), (1, 3, 8))
parameters = layer.init(jax.random.key(1), x, x, x)
try:
    layer.apply(parameters, None, x, x, x[:, :2])
except ValueError as error:
    print("2 values for 3 keys: ValueError:", error)
one = layer.apply(parameters, None, x, x, x[:, :1])
repeated = layer.apply(parameters, None, x, x, x[:, jnp.array([0, 0, 0])])
print("1 value for 3 keys:", "as if it stood three times" if jnp.allclose(one, repeated, atol=1e-6) else "another")
