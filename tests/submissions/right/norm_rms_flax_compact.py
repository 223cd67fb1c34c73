"""Gemma's norm in Flax, for my JAX port."""
import jax
import jax.numpy as jnp
from flax import linen as nn


class RMSNorm(nn.Module):
    epsilon: float = 1e-6

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        inverse = jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + self.epsilon)
        return x * inverse * scale
