import torch
import torch.nn as nn
import torch.nn.functional as F


class DecodingAttention(nn.Module):
    """Masked multi-head attention. A whole text at first; then, with ``past``, one new token after the other."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_heads = num_attention_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def split(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)

    def forward(self, hidden, past=None):
        q, k, v = self.split(self.query(hidden)), self.split(self.key(hidden)), self.split(self.value(hidden))
        if past is not None:
            k, v = torch.cat((past[0], k), dim=-2), torch.cat((past[1], v), dim=-2)
        # a single query sees every key
        context = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        return self.dense(context.permute(0, 2, 1, 3).flatten(2)), (k, v)
