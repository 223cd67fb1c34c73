import math

import torch
import torch.nn as nn


class IncrementalAttention(nn.Module):
    """Causal self-attention; `forward` for training, `begin` and `extend` for decoding in pieces of any size."""

    def __init__(self, n_embd: int, n_head: int, room: int = 128):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head, self.room = n_head, room
        self.to_q = nn.Linear(n_embd, n_embd)
        self.to_k = nn.Linear(n_embd, n_embd)
        self.to_v = nn.Linear(n_embd, n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.count = 0

    def heads(self, t):
        return t.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def attend(self, q, k, v, first):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        rows = first + torch.arange(q.size(2), device=q.device)
        later = torch.arange(k.size(2), device=q.device)[None, :] > rows[:, None]
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        return self.attend(self.heads(self.to_q(x)), self.heads(self.to_k(x)), self.heads(self.to_v(x)), 0)

    def begin(self, batch_size):
        shape = (batch_size, self.n_head, self.room, self.to_k.out_features // self.n_head)
        self.keys = self.to_k.weight.new_zeros(shape)
        self.values = torch.zeros_like(self.keys)
        self.count = 0

    @torch.no_grad()
    def extend(self, piece):
        past, self.count = self.count, self.count + piece.size(1)
        self.keys[:, :, past : self.count] = self.heads(self.to_k(piece))
        self.values[:, :, past : self.count] = self.heads(self.to_v(piece))
        k, v = self.keys[:, :, : self.count], self.values[:, :, : self.count]
        return self.attend(self.heads(self.to_q(piece)), k, v, past)
