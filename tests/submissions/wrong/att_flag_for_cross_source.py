import math

import torch
from torch import nn


class AttentionCore(nn.Module):
    def __init__(self, hidden_size, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, states, source, mask=None):
        q, k, v = self.heads(self.query(states)), self.heads(self.key(source)), self.heads(self.value(source))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores + mask
        return (self.dropout(scores.softmax(dim=-1)) @ v).transpose(1, 2).flatten(2)


class BlockAttention(nn.Module):
    """Attention to the states themselves, or to those of an encoder."""

    def __init__(self, hidden_size, num_heads, dropout=0.0, is_cross_attention=False):
        super().__init__()
        self.is_cross_attention = is_cross_attention
        self.core = AttentionCore(hidden_size, num_heads, dropout)
        self.out = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, attention_mask=None, encoder_hidden_states=None, encoder_attention_mask=None):
        mask = encoder_attention_mask if self.is_cross_attention else attention_mask
        return self.out(self.core(hidden_states, hidden_states, mask))
