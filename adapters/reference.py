"""The reference itself, as an implementation under test."""

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal, intersect, key_padding
from attnconf.reference.multi_head_attention import multi_head_attention as multi_head

declares = {"fully-masked-row": "zeros", "causal-alignment": "top-left", "returned-weights": "per-head"}


def gather_masks(config, query, key, key_mask, attn_mask):
    """Return the one mask that allows what causality, padding and the explicit mask all allow, or None."""
    mask = attn_mask
    if key_mask is not None:
        mask = intersect(mask, key_padding(key_mask))
    if config.causal:
        mask = intersect(mask, causal(query.shape[-2], key.shape[-2]).to(query.device))
    return mask


def active_dropout(config):
    """Return the dropout probability in force: 0 outside training."""
    return config.dropout if config.training else 0.0


def run_attention(config, query, key, value, mask, bias, need_weights):
    out, attn = attend(query, key, value, mask, bias, config.scale, active_dropout(config))
    return (out, attn) if need_weights else out


def run_multi_head(config, weights, query, key, value, mask, bias, need_weights):
    out, attn = multi_head(query, key, value, weights, config.num_heads, mask, bias, active_dropout(config))
    return (out, attn) if need_weights else out


def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = gather_masks(config, query, key, key_mask, attn_mask)
        return run_attention(config, query, key, value, mask, attn_bias, need_weights)

    return forward


def multi_head_attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        mask = gather_masks(config, query, key, key_mask, attn_mask)
        return run_multi_head(config, weights, query, key, value, mask, attn_bias, need_weights)

    return forward
