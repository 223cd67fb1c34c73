"""torch SDPA: F.scaled_dot_product_attention between linear projections, one variant for each backend there is."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

__version__ = torch.__version__
declares = {"fully-masked-row": "zeros", "causal-alignment": "top-left"}

BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION}
if torch.cuda.is_available():
    BACKENDS |= {"efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def sdpa(backend, config, query, key, value, key_mask, attn_mask, attn_bias, scale):
    """Call one backend; what it has no kernel for is not supported."""
    mask = attn_mask
    if key_mask is not None:
        padding = key_mask[:, None, None, :]
        mask = padding if mask is None else mask & padding
    alone = config.causal and mask is None and attn_bias is None  # torch takes a mask or is_causal, not both
    if config.causal and not alone:
        triangle = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
        mask = triangle if mask is None else mask & triangle
    if attn_bias is not None:
        mask = attn_bias if mask is None else torch.where(mask, attn_bias, float("-inf"))
    try:
        with sdpa_kernel([backend]):
            return F.scaled_dot_product_attention(
                query, key, value, attn_mask=mask, is_causal=alone, scale=scale,
                dropout_p=config.dropout if config.training else 0.0,
            )  # fmt: skip
    except RuntimeError as error:
        if "No available kernel" in str(error):
            raise NotImplementedError(f"no kernel of the backend {backend.name} for this call") from None
        raise


def make_attention(backend):
    def attention(config, weights):
        def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
            if need_weights:
                raise NotImplementedError("returned weights")
            return sdpa(backend, config, query, key, value, key_mask, attn_mask, attn_bias, config.scale)

        return forward

    return attention


def make_multi_head_attention(backend):
    def multi_head_attention(config, weights):
        def heads(x, name):
            projected = F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))
            return projected.view(*x.shape[:2], config.num_heads, config.head_dim).transpose(1, 2)

        def forward(query, key, value, *, key_mask=None, attn_mask=None, attn_bias=None, need_weights=False):
            if need_weights:
                raise NotImplementedError("returned weights")
            q, k, v = heads(query, "q"), heads(key, "k"), heads(value, "v")
            context = sdpa(backend, config, q, k, v, key_mask, attn_mask, attn_bias, None)
            return F.linear(context.transpose(1, 2).flatten(2), weights["out.weight"], weights.get("out.bias"))

        return forward

    return multi_head_attention


WIDTHS = {"math": "free", "flash": "free" if torch.cuda.is_available() else "key"}
variants = {
    name: {
        "attention": make_attention(backend),
        "multi_head_attention": make_multi_head_attention(backend),
        "declares": {**declares, "value-width": WIDTHS.get(name, "free")},
    }
    for name, backend in BACKENDS.items()
}
