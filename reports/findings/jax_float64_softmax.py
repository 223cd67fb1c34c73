"""jax.nn.dot_product_attention in float64: the softmax is taken in float32.

Requirement: ATT-PREC-2
Project: jax 0.10.2
On it: https://github.com/jax-ml/jax/pull/21371 is where it was made: a reviewer would have had float64 for float64, and
    the option was dropped until other kernels can do it; closed.
On it: https://github.com/jax-ml/jax/pull/34114 is about NaN that came of the same cast; open.
This is: an ambiguity: the cast is meant for half precision, and noted in the code; the documentation does not say so.

Prints:

    float64, the error is that of float32
"""

import jax
import jax.numpy as jnp
import numpy as np

query, key, value = np.random.default_rng(0).standard_normal((3, 5, 8))
weights = np.exp(query @ key.T / np.sqrt(8))
want = weights / weights.sum(-1, keepdims=True) @ value
with jax.enable_x64(True):
    given = (jnp.asarray(x)[None, :, None] for x in (query, key, value))
    out = jax.nn.dot_product_attention(*given)[0, :, 0]
error = np.abs(np.asarray(out) - want).max()
print(f"{out.dtype}, the error is {'that of float32' if error > 1e-10 else 'that of float64'}")
