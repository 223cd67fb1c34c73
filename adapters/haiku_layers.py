"""Haiku: multi-head attention, norms, MLP and embedding of dm-haiku, on the CPU."""

from importlib.metadata import version

import haiku as hk
import jax
import torch

from attnconf.adapters.kit.jax_bridge import through_jax
from attnconf.adapters.kit.weight_names import both, demand, over_keys

__version__ = version("dm-haiku")
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


def applied(make, params, *args, seed=None, **kwargs):
    """Return what a module gives with these parameters, by their modules' names."""
    run = hk.transform(lambda *given: make()(*given, **kwargs))
    return run.apply(params, None if seed is None else jax.random.key(seed), *args)


def linear(weights, names, path):
    """Return the parameters of linear layers: kernels are (in, out)."""
    params = {}
    for ours, theirs in names.items():
        params[f"{path}/{theirs}"] = {"w": weights[f"{ours}.weight"].T}
        if f"{ours}.bias" in weights:
            params[f"{path}/{theirs}"]["b"] = weights[f"{ours}.bias"]
    return params


PROJECTIONS = {"q": "query", "k": "key", "v": "value", "out": "linear"}


def attend(config, weights, query, key, value, mask):
    def make():
        return hk.MultiHeadAttention(
            config.num_heads, config.head_dim, w_init=hk.initializers.Constant(0), with_bias=config.bias,
            model_size=config.out_dim,
        )  # fmt: skip

    return applied(make, linear(weights, PROJECTIONS, "multi_head_attention"), query, key, value, mask)


def multi_head_attention(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    run = through_jax(attend, config)

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
        return run(dict(weights), query, key, value, mask if mask is None else mask[(None,) * (4 - mask.ndim)])

    return forward


def normalize_layer(config, weights, x):
    axes = tuple(range(-len(config.shape), 0))
    learned = {"create_scale": config.affine, "create_offset": config.affine and config.bias}
    names, shape = {"weight": "scale", "bias": "offset"}, (1,) * (x.ndim - len(axes)) * (len(axes) > 1) + config.shape
    params = {"layer_norm": {names[name]: w.reshape(shape) for name, w in weights.items()}}
    return applied(lambda: hk.LayerNorm(axes, **learned, eps=config.eps, param_axis=axes), params, x)


def layer_norm(config, weights):
    run = through_jax(normalize_layer, config)
    return lambda x: run(dict(weights), x)


def normalize_rms(config, weight, x):
    return applied(lambda: hk.RMSNorm(-1, config.eps), {"rms_norm": {"scale": weight}}, x)


def rms_norm(config, weights):
    run = through_jax(normalize_rms, config)
    return lambda x: run(weights["weight"], x)


def widen_and_narrow(config, weights, x, seed):
    def make():
        sizes, act = (config.hidden_dim, config.embed_dim), ACTIVATIONS[config.activation]
        network = hk.nets.MLP(sizes, with_bias=config.bias, activation=act)
        rate = None if seed is None else config.dropout
        return lambda given: network(given, rate, None if seed is None else hk.next_rng_key())

    return applied(make, linear(weights, {"up": "~/linear_0", "down": "~/linear_1"}, "mlp"), x, seed=seed)


def feed_forward(config, weights):
    demand(config, gated=False)
    run = through_jax(widen_and_narrow, config)

    def forward(x):
        return run(dict(weights), x, torch.randint(2**31, ()) if config.training and config.dropout else None)

    return forward


def look_up(config, table, ids):
    return applied(lambda: hk.Embed(config.vocab_size, config.dim), {"embed": {"embeddings": table}}, ids)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    run = through_jax(look_up, config)
    return lambda ids: run(weights["table.weight"], ids)
