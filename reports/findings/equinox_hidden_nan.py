"""equinox.nn.MultiheadAttention: NaN in a value that the mask hides reaches every output.

Requirement: MASK-NAN-1
Project: equinox 0.13.8
On it: https://github.com/patrick-kidger/equinox/pull/274 made hidden scores the least finite number, to avoid NaN in
    queries without keys; merged. Hidden values are not mentioned.
This is: an ambiguity: a weight of 0 times NaN is NaN as IEEE 754 has it. NaN in a hidden key is replaced.

Prints:

    hidden key 10000000000.0: 0 of 24 features are NaN
    hidden value 10000000000.0: 0 of 24 features are NaN
    hidden key nan: 0 of 24 features are NaN
    hidden value nan: 24 of 24 features are NaN
"""

import equinox as eqx
import jax
import jax.numpy as jnp

layer = eqx.nn.MultiheadAttention(2, 8, key=jax.random.key(1))
x, keep = jax.random.normal(jax.random.key(0), (3, 8)), jnp.tile(jnp.array([True, True, False]), (3, 1))
for hidden in (1e10, jnp.nan):
    spoilt = x.at[2].set(hidden)
    for name, out in {"key": layer(x, spoilt, x, keep), "value": layer(x, x, spoilt, keep)}.items():
        print(f"hidden {name} {hidden}: {jnp.isnan(out).sum()} of {out.size} features are NaN")
