"""flash-attn: Dao's own kernels, on CUDA and in half precision."""

from importlib.metadata import version

import torch
from flash_attn import flash_attn_func

__version__ = version("flash-attn")
declares = {
    "fully-masked-row": "zeros",
    "causal-alignment": "bottom-right",
    "returned-weights": "none",
    "value-width": "key",
    "head-width": "eights",
    "memory": "linear",
}


def attention(config, weights):
    def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
        if need_weights:
            raise NotImplementedError("returned weights")
        if any(x is not None for x in (key_mask, attn_mask, attn_bias)):
            raise NotImplementedError("masks other than causality, and biases")
        if query.device.type != "cuda" or query.dtype not in (torch.float16, torch.bfloat16):
            raise NotImplementedError("what is not in half precision on CUDA")
        dropout = config.dropout if config.training else 0.0
        q, k, v = (x.transpose(1, 2) for x in (query, key, value))  # (B, L, H, E)
        return flash_attn_func(q, k, v, dropout, config.scale, config.causal).transpose(1, 2)

    return forward
