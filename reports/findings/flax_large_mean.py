"""flax.linen.LayerNorm: beside a mean of 10⁴ the variance is wrong, as it is E[x²] - E[x]².

Requirement: LN-OFFSET-1
Project: flax 0.12.8
On it: https://flax.readthedocs.io/en/v0.8.3/api_reference/flax.experimental.nnx/nn/normalization.html says of
    use_fast_variance: faster, but less numerically stable.
On it: https://github.com/google/flax/pull/3194 added the other way; merged.
This is: a documented choice: use_fast_variance=False is right, and the default is not.

Prints:

    use_fast_variance=True: the variance of the output is another than 1
    use_fast_variance=False: the variance of the output is 1
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

x = np.array([[-1.0, 1.0, -1.0, 1.0]], dtype=np.float32) + np.float32(10_001)
for fast in (True, False):
    layer = nn.LayerNorm(use_fast_variance=fast)
    out = layer.apply(layer.init(jax.random.key(0), jnp.asarray(x)), jnp.asarray(x))
    right = abs(np.var(np.asarray(out)) - 1) < 0.01
    print(f"use_fast_variance={fast}: the variance of the output is", "1" if right else "another than 1")
