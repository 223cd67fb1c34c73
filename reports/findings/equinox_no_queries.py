"""equinox.nn.MultiheadAttention: without queries, or without keys, it is a ZeroDivisionError.

Requirement: CALL-EMPTY-1
Project: equinox 0.13.8
On it: https://github.com/patrick-kidger/equinox/blob/main/equinox/nn/_attention.py splits the heads, and puts them side
    by side, by a reshape to (length, …, -1), which nothing tells the size of.
This is: a bug: the size is that of the heads, and known.

Prints:

    nothing left out: (3, 8)
    without queries: ZeroDivisionError: integer modulo by zero
    without keys: ZeroDivisionError: integer modulo by zero
"""

import equinox as eqx
import jax
import jax.numpy as jnp

layer, x = eqx.nn.MultiheadAttention(2, 8, key=jax.random.key(0)), jnp.ones((3, 8))
for what, query, key in (("nothing left out", x, x), ("without queries", x[:0], x), ("without keys", x, x[:0])):
    try:
        print(f"{what}:", layer(query, key, key).shape)
    except ZeroDivisionError as error:
        print(f"{what}: ZeroDivisionError: {error}")
