"""Raises after a while."""

import torch.nn.functional as F

calls = []


def attention(config, weights):
    def forward(query, key, value):
        calls.append(1)
        if len(calls) > 60:
            raise RuntimeError("tired")
        return F.scaled_dot_product_attention(query, key, value)

    return forward
