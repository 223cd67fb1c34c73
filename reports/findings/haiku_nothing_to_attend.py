"""haiku's MultiHeadAttention: without samples, or without queries, it is a ZeroDivisionError.

Requirement: CALL-EMPTY-1
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/attention.py puts the heads side by side by a
    reshape to (…, -1), which nothing tells the size of.
This is: a bug: the size is that of the heads, and known; without keys alone it works.

Prints:

    without keys: (1, 3, 8)
    without queries: ZeroDivisionError: integer modulo by zero
    without samples: ZeroDivisionError: integer modulo by zero
"""

import haiku as hk
import jax
import jax.numpy as jnp

layer = hk.transform(lambda *given: hk.MultiHeadAttention(2, 4, w_init=hk.initializers.TruncatedNormal())(*given))
x = jnp.ones((1, 3, 8))
parameters = layer.init(jax.random.key(0), x, x, x)
for what, query, key in (("keys", x, x[:, :0]), ("queries", x[:, :0], x), ("samples", x[:0], x[:0])):
    try:
        print(f"without {what}:", layer.apply(parameters, None, query, key, key).shape)
    except ZeroDivisionError as error:
        print(f"without {what}: ZeroDivisionError: {error}")
