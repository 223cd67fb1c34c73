"""JAX: jax.nn.dot_product_attention, by XLA on the CPU."""

import jax

from attnconf.adapters.kit.jax_bridge import through_jax
from attnconf.adapters.kit.weight_names import both, over_keys

__version__ = jax.__version__
declares = {
    "fully-masked-row": "mean",
    "causal-alignment": "top-left",
    "returned-weights": "none",
    "value-width": "key",
}


def attend(config, query, key, value, bias, mask):
    q, k, v = (x.swapaxes(1, 2) for x in (query, key, value))  # (B, L, H, E)
    out = jax.nn.dot_product_attention(q, k, v, bias, mask, scale=config.scale, is_causal=config.causal)
    return out.swapaxes(1, 2)


def attention(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    run = through_jax(attend, config)

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        mask = both(attn_mask, over_keys(key_mask))
        return run(query, key, value, attn_bias, mask)

    return forward
