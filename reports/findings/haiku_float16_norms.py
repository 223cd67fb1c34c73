"""haiku's LayerNorm and RMSNorm: in float16 squares of features of 900 overflow, and the output is 0.

Requirement: LN-HALF-3, RMS-HALF-3
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/issues/680 has the way in which half precision is meant to be used,
    by policies for each module, with normalization left in float32; closed.
On it: https://github.com/google/flax/issues/612 is why Flax takes moments in float32; closed.
This is: an ambiguity: whoever sets no policy gets zeros, and no error.

Prints:

    LayerNorm, float32: the features become -1 to 1
    LayerNorm, float16: the features become 0 to 0
    RMSNorm, float32: the features become -1 to 1
    RMSNorm, float16: the features become 0 to 0
"""

import haiku as hk
import jax.numpy as jnp

norms = {"LayerNorm": lambda x: hk.LayerNorm(-1, True, True)(x), "RMSNorm": lambda x: hk.RMSNorm(-1)(x)}
for name, norm in norms.items():
    for dtype in (jnp.float32, jnp.float16):
        x, layer = jnp.array([[-900, 900, -900, 900]], dtype), hk.transform(norm)
        out = layer.apply(layer.init(None, x), None, x)
        print(f"{name}, {x.dtype}: the features become {float(out.min()) + 0:g} to {float(out.max()):g}")
