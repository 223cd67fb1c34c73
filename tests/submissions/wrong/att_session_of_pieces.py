"""Attention for a chat: the conversation arrives in pieces of any length."""

import torch
from torch import nn
from torch.nn import functional as F


class ChatAttention(nn.Module):
    """Causal self-attention. Between `open_session()` and `close_session()` a call goes on where the last one ended."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)
        self.close_session()

    def open_session(self):
        self.session = []

    def close_session(self):
        self.session = None

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if self.session is not None:
            self.session.append((k, v))
            k = torch.cat([k for k, _ in self.session], 2)
            v = torch.cat([v for _, v in self.session], 2)
        visible = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril()
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.out(mixed.transpose(1, 2).flatten(2))
