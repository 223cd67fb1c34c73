"""haiku's MultiHeadAttention: NaN in a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/attention.py replaces hidden scores by -1e30;
    nothing was found on hidden values.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it. NaN in a hidden key is replaced.

Prints:

    hidden key 10000000000.0: 0 of 24 features are NaN
    hidden value 10000000000.0: 0 of 24 features are NaN
    hidden key nan: 0 of 24 features are NaN
    hidden value nan: 24 of 24 features are NaN
"""

import haiku as hk
import jax
import jax.numpy as jnp

layer = hk.transform(lambda *given: hk.MultiHeadAttention(2, 4, w_init=hk.initializers.TruncatedNormal())(*given))
x, keep = jax.random.normal(jax.random.key(0), (1, 3, 8)), jnp.array([True, True, False])[None, None, None]
parameters = layer.init(jax.random.key(1), x, x, x)
for hidden in (1e10, jnp.nan):
    spoilt = x.at[:, 2].set(hidden)
    for name, (key, value) in {"key": (spoilt, x), "value": (x, spoilt)}.items():
        out = layer.apply(parameters, None, x, key, value, keep)
        print(f"hidden {name} {hidden}: {jnp.isnan(out).sum()} of {out.size} features are NaN")
