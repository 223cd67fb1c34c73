"""Attention over a memory that is as wide as it likes, with kernels by heads."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """key_dim and value_dim are of one head; what is asked for and what is looked up have widths of their own."""

    def __init__(self, num_heads, key_dim, query_dim, value_dim, memory_dim):
        super().__init__()
        self.root = key_dim**0.5

        def kernel(*sizes):
            return nn.Parameter(torch.randn(*sizes) * sizes[0] ** -0.5)

        self.to_query = kernel(query_dim, num_heads, key_dim)
        self.to_key = kernel(memory_dim, num_heads, key_dim)
        self.to_value = kernel(memory_dim, num_heads, value_dim)
        self.to_output = kernel(num_heads, value_dim, query_dim)

    def forward(self, query, value, attention_mask=None):
        """attention_mask (B, T, S): True is seen"""
        asked = torch.tensordot(query, self.to_query, 1)
        held, told = (torch.tensordot(value, kernel, 1) for kernel in (self.to_key, self.to_value))
        scores = torch.einsum("bthd,bshd->bhts", asked, held) / self.root
        if attention_mask is not None:
            scores = scores.where(attention_mask[:, None], -torch.inf)
        return torch.einsum("bhts,bshd,hde->bte", scores.softmax(-1), told, self.to_output)
