"""For adapters of transformers' layers: names of activations, and masks for eager attention."""

import torch

from attnconf.adapters.kit.weight_names import both, earlier, over_keys

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu-tanh": "gelu_new",
    "quick-gelu": "quick_gelu",
    "silu": "silu",
    "sigmoid": "sigmoid",
    "none": "linear",
}


def additive(mask, x):
    """Return the mask that eager attention adds to the scores: the dtype's least number where the mask is False."""
    if mask is None:
        return None
    mask = mask[(None,) * (4 - mask.ndim)]
    return torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(~mask, torch.finfo(x.dtype).min)


def given_to_model(config, x, key_mask, attn_mask):
    """Return the mask for a whole model: a mask of keys (the model adds causality), or a complete mask of all pairs."""
    if attn_mask is None:
        return key_mask
    mask = both(attn_mask, over_keys(key_mask))
    return additive(both(mask, earlier(x)) if config.causal else mask, x)


def encode(run, config):
    def forward(x, *, key_mask=None, attn_mask=None):
        mask = both(attn_mask, over_keys(key_mask))
        return run(x, additive(both(mask, earlier(x)) if config.causal else mask, x))

    return forward


def decode(run):
    """``run(x, mask, memory, mask of the memory)``"""

    def forward(x, memory, *, key_mask=None, memory_mask=None):
        return run(x, additive(both(earlier(x), over_keys(key_mask)), x), memory, additive(over_keys(memory_mask), x))

    return forward
