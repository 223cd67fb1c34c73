"""Attention for long sequences on a small card: keys come in blocks of 32, and no row of scores is ever whole."""

import torch

BLOCK = 32


def blockwise_attention(queries, keys, values):
    """All (batch, heads, time, width)."""
    queries = queries / queries.shape[-1] ** 0.5
    best = torch.full(queries.shape[:-1], -torch.inf, dtype=queries.dtype, device=queries.device)
    total = torch.zeros_like(best)
    mixed = torch.zeros_like(queries[..., :1]) * values[..., :1, :]
    for start in range(0, keys.shape[-2], BLOCK):
        block = slice(start, start + BLOCK)
        scores = queries @ keys[..., block, :].mT
        now = torch.maximum(best, scores.amax(-1))
        shares = (scores - now.unsqueeze(-1)).exp()
        shrink = (best - now).exp()
        mixed = mixed * shrink.unsqueeze(-1) + shares @ values[..., block, :]
        total = total + shares.sum(-1)
        best = now
    return mixed / total.unsqueeze(-1)
