"""Leaves out the gradient of the keys."""

import torch.nn.functional as F


def attention(config, weights):
    return lambda query, key, value: F.scaled_dot_product_attention(query, key.detach(), value)
