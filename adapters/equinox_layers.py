"""Equinox: multi-head attention, norms, MLP and embedding, on the CPU."""

import equinox as eqx
import jax
import torch

from attnconf.adapters.kit.jax_bridge import through_jax
from attnconf.adapters.kit.weight_names import both, demand, over_keys, renamed

__version__ = eqx.__version__
declares = {
    "fully-masked-row": "mean",
    "causal-alignment": "top-left",
    "returned-weights": "none",
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "embedding-scale": "none",
}
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu-tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "quick-gelu": lambda x: x * jax.nn.sigmoid(1.702 * x),
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "none": lambda x: x,
}


def filled(kind, sizes, options, weights):
    """Return a module with these weights, by their paths in it; it is made without numbers of its own."""
    module = eqx.filter_eval_shape(kind, *sizes, **options)
    for path, w in weights.items():
        module = eqx.tree_at(lambda m, path=path: reach(m, path), module, w)
    return module


def reach(module, path):
    for name in path.split("."):
        module = module[int(name)] if name.isdigit() else getattr(module, name)
    return module


def over_tokens(layer, x, axes=1):
    """Return the layer's output for x, whose last so many axes are those of the layer."""
    return jax.vmap(layer)(x.reshape(-1, *x.shape[-axes:])).reshape(x.shape)


def attend(config, weights, query, key, value, mask, seed):
    biases = {f"use_{name}_bias": config.bias for name in ("query", "key", "value", "output")}
    options = {**biases, "dropout_p": config.dropout, "inference": not config.training, "key": jax.random.key(0)}
    sizes = (config.key_dim, config.value_dim, config.out_dim, config.head_dim, config.head_dim)
    layer = filled(eqx.nn.MultiheadAttention, (config.num_heads, config.embed_dim, *sizes), options, weights)
    keys = None if seed is None else jax.random.split(jax.random.key(seed), len(query))
    return jax.vmap(lambda q, k, v, m, r: layer(q, k, v, m, key=r))(query, key, value, mask, keys)


PROJECTIONS = {"q": "query_proj", "k": "key_proj", "v": "value_proj", "out": "output_proj"}


def multi_head_attention(config, weights):
    run = through_jax(attend, config)
    weights = renamed(weights, PROJECTIONS)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        rows = (query.shape[1], key.shape[1])
        if config.causal and rows[0] != rows[1]:
            raise NotImplementedError("causal attention with L ≠ S: the caller brings the mask")
        mask = both(attn_mask, over_keys(key_mask))
        mask = both(mask, torch.ones(rows, dtype=torch.bool).tril()) if config.causal else mask
        mask = None if mask is None else mask.expand(len(query), config.num_heads, *rows)
        seed = torch.randint(2**31, ()) if config.training and config.dropout else None
        return run(weights, query, key, value, mask, seed)

    return forward


def normalize_layer(config, weights, x):
    options = {"eps": config.eps, "use_weight": config.affine, "use_bias": config.affine and config.bias}
    return over_tokens(filled(eqx.nn.LayerNorm, (config.shape,), options, weights), x, len(config.shape))


def layer_norm(config, weights):
    run = through_jax(normalize_layer, config)
    return lambda x: run(dict(weights), x)


def normalize_rms(config, weights, x):
    layer = filled(eqx.nn.RMSNorm, (config.dim,), {"eps": config.eps, "use_bias": False}, weights)
    return over_tokens(layer, x)


def rms_norm(config, weights):
    run = through_jax(normalize_rms, config)
    return lambda x: run(dict(weights), x)


def widen_and_narrow(config, weights, x):
    sizes = (config.embed_dim, config.embed_dim, config.hidden_dim, 1, ACTIVATIONS[config.activation])
    options = {"use_bias": config.bias, "use_final_bias": config.bias, "key": jax.random.key(0)}
    return over_tokens(filled(eqx.nn.MLP, sizes, options, weights), x)


def feed_forward(config, weights):
    demand(config, gated=False)
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    run = through_jax(widen_and_narrow, config)
    weights = renamed(weights, {"up": "layers.0", "down": "layers.1"})
    return lambda x: run(weights, x)


def look_up(config, weights, ids):
    sizes, options = (config.vocab_size, config.dim), {"key": jax.random.key(0)}
    return jax.vmap(jax.vmap(filled(eqx.nn.Embedding, sizes, options, weights)))(ids)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    run = through_jax(look_up, config)
    return lambda ids: run({"weight": weights["table.weight"]}, ids)
