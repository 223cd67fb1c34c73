"""equinox.nn.Embedding: an id beyond the table gets its last row, and a negative one counts from the end.

Requirement: EMB-BEYOND-1, EMB-NEG-1
Project: equinox 0.13.8
On it: https://docs.jax.dev/en/latest/_autosummary/jax.Array.at.html says that JAX takes all indices to be in bounds.
On it: https://github.com/jax-ml/jax/issues/3774 is a vocabulary that was too small, which this hid for long; closed, as
    known and documented.
This is: a documented choice: that of JAX, in which an index cannot raise.

Prints:

    id 5 of 5: the row of id 4
    id -1 of 5: the row of id 4
    id 1099511627776 of 5: the row of id 0
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

layer = eqx.nn.Embedding(5, 2, key=jax.random.key(0))
for name in (5, -1, 2**40):
    row = layer(jnp.asarray(np.array(name)))
    print(f"id {name} of 5:", next(f"the row of id {i}" for i in range(5) if jnp.array_equal(row, layer.weight[i])))
