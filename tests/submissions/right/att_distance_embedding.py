import math

import torch
from torch import nn


class SelfAttentionWithDistances(nn.Module):
    """As BERT's relative_key: an embedding of the distance meets the query; the heads side by side are the output."""

    def __init__(self, hidden_size, num_attention_heads, max_position_embeddings=512):
        super().__init__()
        self.heads = num_attention_heads
        self.size = hidden_size // num_attention_heads
        self.longest = max_position_embeddings
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.distance_embedding = nn.Embedding(2 * max_position_embeddings - 1, self.size)

    def by_head(self, x):
        return x.unflatten(-1, (self.heads, self.size)).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        """attention_mask: (batch, 1, 1, length), added to the scores: 0 or a large negative number."""
        q, k, v = (self.by_head(f(hidden_states)) for f in (self.query, self.key, self.value))
        places = torch.arange(hidden_states.shape[1], device=hidden_states.device)
        distance = places.view(-1, 1) - places.view(1, -1)
        embedded = self.distance_embedding(distance + self.longest - 1)
        scores = torch.matmul(q, k.transpose(-1, -2)) + torch.einsum("bhld,lrd->bhlr", q, embedded)
        scores = scores / math.sqrt(self.size)
        if attention_mask is not None:
            scores = scores + attention_mask
        return torch.matmul(scores.softmax(dim=-1), v).transpose(1, 2).flatten(2)
