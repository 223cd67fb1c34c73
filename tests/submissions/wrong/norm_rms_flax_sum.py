import jax
import jax.numpy as jnp
from flax import linen as nn


class RMSNorm(nn.Module):
    epsilon: float = 1e-6

    @nn.compact
    def __call__(self, x):
        gain = self.param("gain", nn.initializers.ones, (x.shape[-1],))
        norm = jax.lax.rsqrt(jnp.sum(jnp.square(x), axis=-1, keepdims=True) + self.epsilon)
        return x * norm * gain
