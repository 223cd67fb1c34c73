from typing import Any

import jax.numpy as jnp
from flax import linen as nn
from jax import Array


class RootMeanSquare(nn.Module):
    """Divide by the root mean square. The statistics are in float32 at least, and the result has ``dtype``."""

    epsilon: float = 1e-6
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x: Array) -> Array:
        gain = self.param("gain", nn.initializers.ones_init(), (x.shape[-1],))
        wide = jnp.asarray(x, jnp.promote_types(jnp.float32, self.dtype))
        power = jnp.mean(wide * wide, axis=-1, keepdims=True)
        return jnp.asarray(wide / jnp.sqrt(power + self.epsilon) * gain, self.dtype)
