"""Equinox: multi-head attention, norms, MLP and embedding, on the CPU."""

import equinox as eqx
import jax
import torch

from attnconf.adapters.jax_bridge import random_key, through_jax
from attnconf.adapters.layout import both, demand

__version__ = eqx.__version__
declares = {
    "fully-masked-row": "mean",
    "causal-alignment": "top-left",
    "returned-weights": "none",
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "embedding-scale": "none",
}


def fill(module, names, weights):
    """Return the module with the weights that there are, by the names of its layers."""
    places = [(layer, kind) for layer in names for kind in ("weight", "bias") if f"{layer}.{kind}" in weights]
    for layer, kind in places:
        path = f"{names[layer]}.{kind}".lstrip(".").split(".")
        module = eqx.tree_at(lambda m, path=path: reach(m, path), module, weights[f"{layer}.{kind}"])
    return module


def reach(module, path):
    for name in path:
        module = module[int(name)] if name.isdigit() else getattr(module, name)
    return module


def shaped(kind, *sizes, **options):
    """Return a module without numbers: the weights are put in later."""
    return eqx.filter_eval_shape(kind, *sizes, **options)


MULTI_HEAD = {"q": "query_proj", "k": "key_proj", "v": "value_proj", "out": "output_proj"}


def multi_head_attention(config, weights):
    biases = {f"use_{name}_bias": config.bias for name in ("query", "key", "value", "output")}
    layer = shaped(
        eqx.nn.MultiheadAttention, config.num_heads, config.embed_dim, config.key_dim, config.value_dim, config.out_dim,
        config.head_dim, config.head_dim, **biases, dropout_p=config.dropout, inference=not config.training,
        key=jax.random.key(0),
    )  # fmt: skip

    @through_jax
    def run(weights, query, key, value, mask, random):
        filled = fill(layer, MULTI_HEAD, weights)
        keys = None if random is None else jax.random.split(random, len(query))
        attend = lambda q, k, v, m, r: filled(q, k, v, m, key=r)
        return jax.vmap(attend)(query, key, value, mask, keys)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        rows = (query.shape[1], key.shape[1])
        if config.causal and rows[0] != rows[1]:
            raise NotImplementedError("causal attention with L ≠ S: the caller brings the mask")
        mask = both(attn_mask, None if key_mask is None else key_mask[:, None, None, :])
        mask = both(mask, torch.ones(rows, dtype=torch.bool).tril()) if config.causal else mask
        mask = None if mask is None else mask.expand(len(query), config.num_heads, *rows)
        random = random_key() if config.training and config.dropout else None
        return run(dict(weights), query, key, value, mask, random)

    return forward


def over_tokens(layer, x, axes):
    """Return the layer's output for x, of whose axes the last so many are the layer's."""
    shape = x.shape[x.ndim - axes :]
    return jax.vmap(layer)(x.reshape(-1, *shape)).reshape(*x.shape[: x.ndim - axes], *shape)


def layer_norm(config, weights):
    layer = shaped(eqx.nn.LayerNorm, config.shape, config.eps, config.affine, config.affine and config.bias)
    run = through_jax(lambda weights, x: over_tokens(fill(layer, {"": ""}, weights), x, len(config.shape)))
    named = {f".{name}": w for name, w in weights.items()}
    return lambda x: run(named, x)


def rms_norm(config, weights):
    layer = shaped(eqx.nn.RMSNorm, config.dim, config.eps, use_bias=False)
    run = through_jax(lambda weights, x: over_tokens(fill(layer, {"": ""}, weights), x, 1))
    return lambda x: run({".weight": weights["weight"]}, x)


ACTIVATIONS = {
    "relu": jax.nn.relu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu-tanh": jax.nn.gelu,
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "none": lambda x: x,
}


def feed_forward(config, weights):
    demand(config, gated=False)
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    layer = shaped(
        eqx.nn.MLP, config.embed_dim, config.embed_dim, config.hidden_dim, 1, ACTIVATIONS[config.activation],
        use_bias=config.bias, use_final_bias=config.bias, key=jax.random.key(0),
    )  # fmt: skip
    names = {"up": "layers.0", "down": "layers.1"}
    run = through_jax(lambda weights, x: over_tokens(fill(layer, names, weights), x, 1))
    return lambda x: run(dict(weights), x)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    layer = shaped(eqx.nn.Embedding, config.vocab_size, config.dim, key=jax.random.key(0))
    run = through_jax(lambda weights, ids: jax.vmap(jax.vmap(fill(layer, {"table": ""}, weights)))(ids))
    return lambda ids: run(dict(weights), ids)
