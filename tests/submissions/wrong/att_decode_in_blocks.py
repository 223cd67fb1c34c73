"""Attention of the newest token to a cache, block after block with a running maximum, as the kernel does it."""

import torch


def decode_attention(query, key_cache, value_cache, context_lens, block_size=4, scale=None):
    """query: (batch, heads, dim); caches: (batch, heads, tokens, dim), of which the first context_lens are in use."""
    batch, heads, dim = query.shape
    scale = dim**-0.5 if scale is None else scale
    highest = query.new_full((batch, heads, 1), float("-inf"))
    total = query.new_zeros(batch, heads, 1)
    mixed = query.new_zeros(batch, heads, value_cache.shape[-1])
    for start in range(0, key_cache.shape[2], block_size):
        keys = key_cache[:, :, start : start + block_size]
        values = value_cache[:, :, start : start + block_size]
        place = start + torch.arange(keys.shape[2], device=query.device)
        in_use = (place < context_lens[:, None])[:, None]
        scores = torch.einsum("bhd,bhtd->bht", query * scale, keys).masked_fill(~in_use, float("-inf"))
        higher = torch.maximum(highest, scores.amax(-1, keepdim=True))
        safe = higher.masked_fill(higher == float("-inf"), 0.0)
        weights = (scores - safe).exp()
        shrink = (highest - safe).exp()
        total = total * shrink + weights.sum(-1, keepdim=True)
        mixed = mixed + torch.einsum("bht,bhtd->bhd", weights, values.masked_fill(~in_use[..., None], 0.0))
        highest = higher
    return mixed / total
