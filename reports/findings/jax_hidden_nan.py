"""jax.nn.dot_product_attention: NaN in a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: jax 0.10.2
On it: https://github.com/jax-ml/jax/blob/main/jax/_src/nn/functions.py replaces hidden scores by a large negative
    number; its text says that what is True takes part.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it. NaN in a hidden key is replaced.

Prints:

    hidden key 10000000000.0: 0 of 24 features are NaN
    hidden value 10000000000.0: 0 of 24 features are NaN
    hidden key nan: 0 of 24 features are NaN
    hidden value nan: 24 of 24 features are NaN
"""

import jax
import jax.numpy as jnp

x, keep = jax.random.normal(jax.random.key(0), (1, 3, 1, 8)), jnp.array([True, True, False])[None, None, None]
for hidden in (1e10, jnp.nan):
    spoilt = x.at[:, 2].set(hidden)
    for name, (key, value) in {"key": (spoilt, x), "value": (x, spoilt)}.items():
        out = jax.nn.dot_product_attention(x, key, value, mask=keep)
        print(f"hidden {name} {hidden}: {jnp.isnan(out).sum()} of {out.size} features are NaN")
