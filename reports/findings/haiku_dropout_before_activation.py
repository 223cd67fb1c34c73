"""haiku's nets.MLP: features are dropped before the activation, and with a sigmoid a dropped one counts as 0.5.

Requirement: FF-DROP-3
Project: dm-haiku 0.0.17
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/nets/mlp.py drops only where an activation
    follows, and before it.
On it: https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/basic.py says of dropout that its rate is less
    than 1.
This is: an ambiguity: with ReLU either order is the same; with others what is dropped is not gone, and what is left is
    not scaled as dropout has it.

Prints:

    relu: with a rate of 0.999 the median of the hidden features is 0.0
    sigmoid: with a rate of 0.999 the median of the hidden features is 0.5
    a rate of 1: ValueError: rate must be in [0, 1).
"""

import haiku as hk
import jax
import jax.numpy as jnp


def hidden(activation: str, rate: float) -> jax.Array:
    network = hk.transform(
        lambda x: hk.nets.MLP((1000,), activation=getattr(jax.nn, activation), activate_final=True)(
            x, rate, hk.next_rng_key()
        )
    )
    x = jnp.ones((1, 4))
    out: jax.Array = network.apply(network.init(jax.random.key(0), x), jax.random.key(1), x)
    return out


for name in ("relu", "sigmoid"):
    print(f"{name}: with a rate of 0.999 the median of the hidden features is {jnp.median(hidden(name, 0.999))}")
try:
    hidden("relu", 1.0)
except ValueError as error:
    print("a rate of 1: ValueError:", error)
