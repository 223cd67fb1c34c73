"""torch SDPA: F.scaled_dot_product_attention between linear projections, one variant for each backend there is."""

import functools
import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

__version__ = torch.__version__
declares = {"fully-masked-row": "zeros", "causal-alignment": "top-left", "returned-weights": "none"}

BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION}
if torch.cuda.is_available():
    BACKENDS |= {"efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def one_mask(config, query, key, key_mask, attn_mask, attn_bias):
    """Return torch's (attn_mask, is_causal), of which it takes one: a mask or bias of four axes, or the flag."""
    masks = [] if attn_mask is None else [attn_mask]
    if key_mask is not None:
        masks.append(key_mask[:, None, None, :])
    if config.causal and not masks and attn_bias is None:
        return None, True
    if config.causal:
        masks.append(torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril())
    mask = functools.reduce(torch.logical_and, masks) if masks else None
    if attn_bias is not None:
        mask = attn_bias if mask is None else torch.where(mask, attn_bias, float("-inf"))
    return mask if mask is None else mask[(None,) * (4 - mask.ndim)], False


def sdpa(backend, config, query, key, value, key_mask, attn_mask, attn_bias, scale):
    """Call one backend; what it has no kernel for is not supported, in torch's words, which it gives as warnings."""
    mask, causal = one_mask(config, query, key, key_mask, attn_mask, attn_bias)
    dropout = config.dropout if config.training else 0.0
    with sdpa_kernel([backend]), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            return F.scaled_dot_product_attention(query, key, value, mask, dropout, causal, scale=scale)
        except RuntimeError as error:
            if "No available kernel" not in str(error):
                raise
    reasons = [str(warning.message).split(" (Triggered")[0].split(". ")[0] for warning in said]
    reasons = [r for r in reasons if not r.endswith("not used because:") and "disabled" not in r]
    raise NotImplementedError(f"no {backend.name} kernel for this call" + "".join(f"; {r}" for r in reasons))


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


variants = {
    name: {
        "attention": make_attention(backend),
        "multi_head_attention": make_multi_head_attention(backend),
        "declares": {
            **declares,
            "value-width": "key" if name == "flash" else "free",
            "head-width": "eights" if name in ("efficient", "cudnn") else "free",
            "memory": "quadratic" if name == "math" else "linear",
        },
    }
    for name, backend in BACKENDS.items()
}
