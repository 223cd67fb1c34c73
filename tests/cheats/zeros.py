"""Returns zeros."""

import torch


def attention(config, weights):
    return lambda query, key, value: torch.zeros_like(query)
