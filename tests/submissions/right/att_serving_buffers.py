"""Self-attention of a small inference server: one object per slot, which the scheduler resets between requests."""

import math

import torch
from torch import nn


class SlotAttention(nn.Module):
    """Causal. Each call gets the tokens that are new, however many, and attends to all since `clear()`."""

    def __init__(self, model_dim, n_heads, max_batch_size=16, capacity=2048):
        super().__init__()
        self.n_heads, self.capacity, self.max_batch_size = n_heads, capacity, max_batch_size
        self.to_qkv = nn.Linear(model_dim, 3 * model_dim)
        self.to_out = nn.Linear(model_dim, model_dim)
        self.clear()

    def clear(self):
        self.filled, self.store = 0, None

    def room(self, like):
        if self.store is None:
            shape = (2, self.max_batch_size, self.n_heads, self.capacity, like.shape[-1])
            self.store = torch.empty(shape, dtype=like.dtype, device=like.device)
        return self.store

    def forward(self, new):
        batch, count, width = new.shape
        q, k, v = self.to_qkv(new).reshape(batch, count, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        begin, end = self.filled, self.filled + count
        if end > self.capacity:
            raise ValueError(f"{end} tokens, room for {self.capacity}")
        store = self.room(k).clone()
        store[0, :batch, :, begin:end] = k
        store[1, :batch, :, begin:end] = v
        self.store, self.filled = store, end
        k, v = store[0, :batch, :, :end], store[1, :batch, :, :end]
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        later = torch.arange(end, device=new.device) > torch.arange(begin, end, device=new.device)[:, None]
        mixed = scores.masked_fill(later, -math.inf).softmax(-1) @ v
        return self.to_out(mixed.transpose(1, 2).reshape(batch, count, width))
