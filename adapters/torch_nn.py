"""torch.nn: F.scaled_dot_product_attention, nn.MultiheadAttention, as PyTorch dispatches them, and nn.Embedding."""

import torch
import torch.nn.functional as F
from torch import nn

from attnconf.adapters import bind

__version__ = torch.__version__
declares = {
    "fully-masked-row": "zeros",
    "causal-alignment": "top-left",
    "attention": {"returned-weights": "none"},
    "multi_head_attention": {"returned-weights": "per-head"},
    "learned-output": "table",
    "learned-offset": "0",
}


def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        mask = both(attn_mask, None if key_mask is None else key_mask[:, None, None, :])
        alone = config.causal and mask is None and attn_bias is None  # torch takes a mask or is_causal, not both
        if config.causal and not alone:
            mask = both(mask, torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril())
        mask = as_bias(mask, attn_bias)
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask if mask is None else mask[(None,) * (4 - mask.ndim)], is_causal=alone,
            dropout_p=config.dropout if config.training else 0.0, scale=config.scale,
        )  # fmt: skip

    return forward


def multi_head_attention(config, weights):
    if config.embed_dim % config.num_heads == 0 and config.head_dim * config.num_heads != config.embed_dim:
        raise NotImplementedError("heads whose widths do not add up to embed_dim")
    if config.out_dim != config.embed_dim:
        raise NotImplementedError("an output of another width than the query")
    like = weights["q.weight"]
    layer = nn.MultiheadAttention(
        config.embed_dim, config.num_heads, dropout=config.dropout, bias=config.bias, kdim=config.key_dim,
        vdim=config.value_dim, batch_first=True, device=like.device, dtype=like.dtype,
    ).train(config.training)  # fmt: skip
    call = bind(layer, in_torch_names(weights, fused=config.embed_dim == config.key_dim == config.value_dim))

    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if config.causal and query.shape[1] != key.shape[1]:
            raise NotImplementedError("causal attention with L ≠ S: the caller brings the mask")
        alone = config.causal and attn_mask is None and attn_bias is None and key_mask is None
        if config.causal:
            square = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool, device=query.device).tril()
            attn_mask = both(attn_mask, square)
        mask = None if attn_mask is None and attn_bias is None else as_bias(attn_mask, attn_bias)
        out, attn = call(
            query, key, value, key_padding_mask=padding(key_mask, mask), is_causal=alone,
            attn_mask=in_torch_shape(mask, query, key, config.num_heads),
            need_weights=need_weights, average_attn_weights=False,
        )  # fmt: skip
        return (out, attn) if need_weights else out

    return forward


def learned(config, weights):
    if config.training and config.dropout:
        raise NotImplementedError("dropout")
    table = weights["table.weight"]
    call = bind(nn.Embedding(config.max_len, config.dim, device=table.device, dtype=table.dtype), {"weight": table})

    def forward(x, *, positions=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        return call(positions).expand(len(x), -1, -1)

    return forward


def in_torch_names(weights, fused):
    """Return the state of nn.MultiheadAttention: one in_proj_weight where all widths are equal, else three."""
    state = {"out_proj.weight": weights["out.weight"]}
    if fused:
        state["in_proj_weight"] = torch.cat([weights["q.weight"], weights["k.weight"], weights["v.weight"]])
    else:
        state |= {f"{name}_proj_weight": weights[f"{name}.weight"] for name in "qkv"}
    if "q.bias" in weights:
        state["in_proj_bias"] = torch.cat([weights["q.bias"], weights["k.bias"], weights["v.bias"]])
        state["out_proj.bias"] = weights["out.bias"]
    return state


def both(one, other):
    """Return the mask that allows what both allow."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def as_bias(mask, bias):
    """Return one argument for torch's one attn_mask: boolean, or the bias with -inf where the mask is False."""
    if bias is None or mask is None:
        return mask if bias is None else bias
    return torch.where(mask, bias, float("-inf"))


def in_torch_shape(mask, query, key, heads):
    """Return a mask for nn.MultiheadAttention: (L, S) or (B·H, L, S); a boolean one True where a key is hidden."""
    if mask is None:
        return None
    mask = ~mask if mask.dtype == torch.bool else mask
    rows = (query.shape[1], key.shape[1])
    if mask.ndim <= 2:
        return mask.expand(rows)
    return mask.expand(query.shape[0], heads, *rows).reshape(-1, *rows)


def padding(key_mask, mask):
    """Return the key mask in torch's polarity, as floats where the other mask is, which torch wants alike."""
    if key_mask is None:
        return None
    if mask is None or mask.dtype == torch.bool:
        return ~key_mask
    return torch.zeros(key_mask.shape, dtype=mask.dtype, device=mask.device).masked_fill(~key_mask, float("-inf"))
