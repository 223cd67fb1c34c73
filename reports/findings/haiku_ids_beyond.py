"""haiku's Embed: ids beyond the table, and negative ones, get its last row, or zeros, by lookup_style.

Requirement: EMB-BEYOND-1, EMB-NEG-1
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/embed.py says that ids have to be within the
    vocabulary to prevent NaN, and that lookup_style changes nothing but speed and memory.
On it: https://docs.jax.dev/en/latest/_autosummary/jax.Array.at.html says that JAX takes all indices to be in bounds.
This is: an ambiguity: what the text says comes of neither style, and the two differ.

Prints:

    ARRAY_INDEX, id 5 of 5: the row of id 4
    ARRAY_INDEX, id -1 of 5: the row of id 4
    ONE_HOT, id 5 of 5: [0.0, 0.0]
    ONE_HOT, id -1 of 5: [0.0, 0.0]
"""

import haiku as hk
import jax
import jax.numpy as jnp

layer = hk.transform(lambda ids, style: hk.Embed(5, 2)(ids, style))
parameters = layer.init(jax.random.key(0), jnp.zeros(1, int), "ARRAY_INDEX")
table = parameters["embed"]["embeddings"]
for style in ("ARRAY_INDEX", "ONE_HOT"):
    for name in (5, -1):
        row = layer.apply(parameters, None, jnp.array([name]), style)[0]
        what = next((f"the row of id {i}" for i in range(5) if jnp.array_equal(row, table[i])), row.tolist())
        print(f"{style}, id {name} of 5: {what}")
