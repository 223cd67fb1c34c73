"""Self-attention for the reading model."""
import math

import torch
from torch import nn


def to_additive(mask, dtype):
    """(batch, tokens) of ones and zeros -> (batch, 1, 1, tokens), to be added to the scores."""
    return mask[:, None, None, :].to(dtype) * torch.finfo(dtype).min


class ReaderSelfAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_size = hidden_size // num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)

    def forward(self, states, attention_mask=None):
        """attention_mask: (batch, tokens), 1 = word, 0 = padding."""
        batch, tokens, _ = states.shape

        def heads(x):
            return x.view(batch, tokens, self.num_heads, self.head_size).transpose(1, 2)

        q, k, v = heads(self.query(states)), heads(self.key(states)), heads(self.value(states))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_size)
        if attention_mask is not None:
            scores = scores + to_additive(attention_mask, scores.dtype)
        out = scores.softmax(dim=-1) @ v
        return self.output(out.transpose(1, 2).reshape(batch, tokens, -1))
