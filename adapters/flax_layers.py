"""Flax: dot-product and multi-head attention, norms and embedding of flax.linen, on the CPU."""

import flax
import jax
import torch
from flax import linen

from attnconf.adapters.kit.jax_bridge import through_jax
from attnconf.adapters.kit.weight_names import both, demand, over_keys

__version__ = flax.__version__
declares = {
    "fully-masked-row": "mean",
    "causal-alignment": "top-left",
    "returned-weights": "per-head",
    "attention": {"returned-weights": "none", "value-width": "free"},
    "rms-norm-weight": "plain",
    "rms-norm-cast": "after",
    "embedding-scale": "none",
}


def one_mask(config, query, key, key_mask, attn_mask):
    """Return the mask as they take it: the caller brings causality too."""
    mask = both(attn_mask, over_keys(key_mask))
    if config.causal:
        mask = both(mask, torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril())
    return mask if mask is None else mask[(None,) * (4 - mask.ndim)]


def seed_of(config):
    return torch.randint(2**31, ()) if config.training and config.dropout else None


def attend(config, query, key, value, bias, mask, seed):
    q, k, v = (x.swapaxes(1, 2) for x in (query, key, value))  # (B, L, H, E)
    random = None if seed is None else jax.random.key(seed)
    out = linen.dot_product_attention(
        q, k, v, bias, mask, dropout_rng=random, dropout_rate=config.dropout, deterministic=seed is None
    )
    return out.swapaxes(1, 2)


def attention(config, weights):
    demand(config, scale=None)
    run = through_jax(attend, config)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        mask = one_mask(config, query, key, key_mask, attn_mask)
        return run(query, key, value, attn_bias, mask, seed_of(config))

    return forward


def attend_in_heads(config, weights, query, key, value, mask, seed):
    layer = linen.MultiHeadDotProductAttention(
        config.num_heads, qkv_features=config.num_heads * config.head_dim, out_features=config.out_dim,
        use_bias=config.bias, dropout_rate=config.dropout, deterministic=seed is None,
    )  # fmt: skip
    out, sown = layer.apply(
        {"params": in_their_layout(weights, config.num_heads)}, query, key, value, mask=mask, sow_weights=True,
        rngs={} if seed is None else {"dropout": jax.random.key(seed)}, mutable=["intermediates"],
    )  # fmt: skip
    return out, sown["intermediates"]["attention_weights"][0]


def in_their_layout(weights, heads):
    """Return kernels (in, heads, width of a head), and back from there (heads, width of a head, out)."""
    params = {}
    for ours, theirs in {"q": "query", "k": "key", "v": "value"}.items():
        kernel = weights[f"{ours}.weight"].T
        params[theirs] = {"kernel": kernel.reshape(len(kernel), heads, -1)}
        if f"{ours}.bias" in weights:
            params[theirs]["bias"] = weights[f"{ours}.bias"].reshape(heads, -1)
    kernel = weights["out.weight"].T
    params["out"] = {"kernel": kernel.reshape(heads, -1, kernel.shape[1])}
    if "out.bias" in weights:
        params["out"]["bias"] = weights["out.bias"]
    return params


def multi_head_attention(config, weights):
    run = through_jax(attend_in_heads, config)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if attn_bias is not None:
            raise NotImplementedError("an additive bias")
        if config.causal and query.shape[1] != key.shape[1]:
            raise NotImplementedError("causal attention with L ≠ S: the caller brings the mask")
        mask = one_mask(config, query, key, key_mask, attn_mask)
        out, attn = run(dict(weights), query, key, value, mask, seed_of(config))
        return (out, attn) if need_weights else out

    return forward


def normalize_layer(config, weights, x):
    axes = tuple(range(-len(config.shape), 0))
    layer = linen.LayerNorm(
        config.eps, use_bias=config.affine and config.bias, use_scale=config.affine, reduction_axes=axes,
        feature_axes=axes,
    )  # fmt: skip
    names = {"weight": "scale", "bias": "bias"}
    return layer.apply({"params": {names[name]: w for name, w in weights.items()}}, x)


def layer_norm(config, weights):
    run = through_jax(normalize_layer, config)
    return lambda x: run(dict(weights), x)


def normalize_rms(config, weight, x):
    return linen.RMSNorm(config.eps).apply({"params": {"scale": weight}}, x)


def rms_norm(config, weights):
    run = through_jax(normalize_rms, config)
    return lambda x: run(weights["weight"], x)


def look_up(config, table, ids):
    return linen.Embed(config.vocab_size, config.dim).apply({"params": {"embedding": table}}, ids)


def token_embedding(config, weights):
    demand(config, padding_id=None)
    run = through_jax(look_up, config)
    return lambda ids: run(weights["table.weight"], ids)
