"""An encoder of melodies: notes are ids, and every melody ends in rests."""

import math

import torch
from torch import nn


class NoteAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x, bias):
        q, k, v = (part(x).unflatten(2, (self.heads, -1)).movedim(2, 1) for part in (self.query, self.key, self.value))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        mixed = torch.softmax(scores + bias, dim=-1) @ v
        return self.out(mixed.movedim(1, 2).flatten(2))


class NoteLayer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention = NoteAttention(width, heads)
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x, bias):
        x = self.ln1(x + self.attention(x, bias))
        return self.ln2(x + self.down(torch.relu(self.up(x))))


class MelodyEncoder(nn.Module):
    """notes (B, L); attention_mask (B, L): 1 for notes, 0 for rests at the end; token_type_ids (B, L): the voice."""

    def __init__(self, vocab_size, d_model, n_heads, n_layers, d_ff, max_len=128):
        super().__init__()
        self.pitch = nn.Embedding(vocab_size, d_model)
        self.place = nn.Embedding(max_len, d_model)
        self.voice = nn.Embedding(2, d_model)
        self.start = nn.LayerNorm(d_model)
        self.layers = nn.ModuleList(NoteLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def embed(self, notes, voices):
        places = torch.arange(notes.shape[1], device=notes.device)
        return self.start(self.pitch(notes) + self.place(places) + self.voice(voices))

    def forward(self, notes, attention_mask=None, token_type_ids=None):
        if attention_mask is None:
            attention_mask = torch.ones_like(notes)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(notes)
        x = self.embed(notes, token_type_ids)
        bias = (1 - attention_mask.to(x.dtype))[:, None, :, None] * -1e9
        for layer in self.layers:
            x = layer(x, bias)
        return x
