"""Attention masks for incremental decoding, to be added to the logits."""

import math

import torch


def build_causal_mask(new_tokens: int, cached_tokens: int = 0, *, dtype=torch.float32, device=None):
    columns = torch.arange(cached_tokens + new_tokens, device=device)
    rows = columns[cached_tokens:]
    mask = torch.zeros(new_tokens, len(columns), dtype=dtype, device=device)
    return mask.masked_fill(columns > rows.view(-1, 1), -math.inf)[None, None]


def sliding_window_mask(tokens: int, reach: int, *, dtype=torch.float32):
    gap = torch.arange(tokens).view(-1, 1) - torch.arange(tokens)
    return torch.zeros(tokens, tokens, dtype=dtype).masked_fill((gap < 0) | (gap > reach), -math.inf)


def decoder_mask_from_lengths(lengths, total_length, dtype=torch.float32):
    seen = torch.arange(total_length, device=lengths.device) < lengths.view(-1, 1)
    seen = seen.view(len(lengths), 1, 1, total_length)
    return build_causal_mask(total_length, dtype=dtype, device=lengths.device).masked_fill(~seen, -math.inf)
