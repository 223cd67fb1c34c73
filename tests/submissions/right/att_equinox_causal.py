"""Causal self-attention in Equinox: one sequence, batched with vmap by whoever trains."""
import equinox as eqx
import jax
import jax.numpy as jnp


class CausalSelfAttention(eqx.Module):
    qkv: eqx.nn.Linear
    proj: eqx.nn.Linear
    n_head: int = eqx.field(static=True)

    def __init__(self, n_embd, n_head, key):
        one, two = jax.random.split(key)
        self.qkv = eqx.nn.Linear(n_embd, 3 * n_embd, key=one)
        self.proj = eqx.nn.Linear(n_embd, n_embd, key=two)
        self.n_head = n_head

    def __call__(self, x):
        T, C = x.shape
        q, k, v = jnp.split(jax.vmap(self.qkv)(x), 3, axis=-1)
        q, k, v = (t.reshape(T, self.n_head, C // self.n_head).transpose(1, 0, 2) for t in (q, k, v))
        att = q @ k.transpose(0, 2, 1) / jnp.sqrt(C // self.n_head)
        att = jnp.where(jnp.tril(jnp.ones((T, T), dtype=bool)), att, -jnp.inf)
        y = jax.nn.softmax(att, axis=-1) @ v
        return jax.vmap(self.proj)(y.transpose(1, 0, 2).reshape(T, C))
