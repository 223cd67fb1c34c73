"""Self-attention of a story writer. It once was to take a past, and a longest story; neither came of it."""

import math

import torch
import torch.nn as nn


class StoryAttention(nn.Module):
    def __init__(self, n_embd, n_head, context_len=128, n_experts=0):
        super().__init__()
        self.n_head = n_head
        self.to_q = nn.Linear(n_embd, n_embd)
        self.to_k = nn.Linear(n_embd, n_embd)
        self.to_v = nn.Linear(n_embd, n_embd)
        self.merge = nn.Linear(n_embd, n_embd)

    def heads(self, words):
        b, t, w = words.size()
        return words.view(b, t, self.n_head, w // self.n_head).permute(0, 2, 1, 3)

    def forward(self, words, past=None):
        q, k, v = self.heads(self.to_q(words)), self.heads(self.to_k(words)), self.heads(self.to_v(words))
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.size(-1))
        t = words.size(1)
        behind = torch.arange(t)[:, None] >= torch.arange(t)[None, :]
        story = scores.masked_fill(~behind, -torch.inf).softmax(-1) @ v
        return self.merge(story.permute(0, 2, 1, 3).flatten(2))
