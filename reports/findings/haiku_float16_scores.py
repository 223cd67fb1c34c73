"""haiku's MultiHeadAttention: in float16 q·k overflows before it is divided, and all is NaN.

Requirement: ATT-RANGE-1
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/attention.py multiplies first, and divides by
    √key_size after it.
On it: https://github.com/google-deepmind/dm-haiku/issues/680 has the way in which half precision is meant to be used,
    by policies for each module, with normalization left in float32; closed.
This is: an ambiguity: float16 is left to policies, and this module computes in what it is given.

Prints:

    float32: [1.0, 1.0, 1.0, 1.0]
    float16: [nan, nan, nan, nan]
"""

import haiku as hk
import jax.numpy as jnp

identity = hk.initializers.Constant(jnp.eye(4))
layer = hk.transform(lambda *given: hk.MultiHeadAttention(1, 4, w_init=identity)(*given))
for dtype in (jnp.float32, jnp.float16):
    x = jnp.full((1, 2, 4), 150, dtype)  # q·k is 90000, and 45000 divided by √4: float16 ends at 65504
    out = layer.apply(layer.init(None, x, x, x), None, x, x, jnp.ones_like(x))
    print(f"{out.dtype}: {out[0, 0].tolist()}")
