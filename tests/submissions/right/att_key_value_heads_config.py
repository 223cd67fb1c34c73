import torch
import torch.nn as nn


class TextAttention(nn.Module):
    """config: hidden_size, num_attention_heads, num_key_value_heads, attention_dropout"""

    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.width = config.hidden_size // self.heads
        self.dropout = config.attention_dropout
        self.q_proj = nn.Linear(config.hidden_size, self.heads * self.width)
        self.k_proj = nn.Linear(config.hidden_size, self.kv_heads * self.width)
        self.v_proj = nn.Linear(config.hidden_size, self.kv_heads * self.width)
        self.o_proj = nn.Linear(self.heads * self.width, config.hidden_size)

    def forward(self, hidden_states, attention_mask=None):
        """attention_mask: (batch, 1, queries, keys), added to the scores"""
        shape = (*hidden_states.shape[:-1], -1, self.width)
        query = self.q_proj(hidden_states).view(shape).transpose(1, 2)
        key = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        value = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        groups = self.heads // self.kv_heads
        key = torch.repeat_interleave(key, groups, dim=1)
        value = torch.repeat_interleave(value, groups, dim=1)
        scores = torch.matmul(query, key.transpose(2, 3)) * self.width**-0.5
        if attention_mask is not None:
            scores = scores + attention_mask
        weights = nn.functional.softmax(scores, dim=-1)
        weights = nn.functional.dropout(weights, p=self.dropout, training=self.training)
        out = torch.matmul(weights, value).transpose(1, 2).reshape(*hidden_states.shape[:-1], -1)
        return self.o_proj(out), weights
