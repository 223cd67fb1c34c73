"""Attention block. The queries and the keys are scaled, each by half of what is needed, so that float16 is fine."""
import torch.nn as nn


class ScaledAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        assert hidden_size % num_attention_heads == 0
        self.num_heads = num_attention_heads
        self.size = hidden_size // num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.size).transpose(1, 2)

    def forward(self, hidden_states):
        q = self.heads(self.query(hidden_states)) / self.size ** 0.25
        k = self.heads(self.key(hidden_states))
        v = self.heads(self.value(hidden_states))
        attention_probs = (q @ k.transpose(2, 3)).softmax(dim=-1)
        context = (attention_probs @ v).transpose(1, 2).flatten(2)
        return self.dense(context)
