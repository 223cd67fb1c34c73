"""A sentence encoder in one class, for reading from top to bottom: ids in, vectors out."""
import torch
import torch.nn.functional as F
from torch import nn


class SentenceEncoder(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, d_ff, max_len=128):
        super().__init__()
        self.n_heads = n_heads
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = nn.Embedding(max_len, d_model)
        names = {"query": d_model, "key": d_model, "value": d_model, "out": d_model, "wide": d_ff}
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            layer = nn.ModuleDict({name: nn.Linear(d_model, width) for name, width in names.items()})
            layer["narrow"] = nn.Linear(d_ff, d_model)
            layer["norm_a"], layer["norm_b"] = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
            self.layers.append(layer)

    def split(self, x):
        return x.unflatten(2, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, ids, mask=None):
        """ids (batch, words); mask (batch, words): 1 = word, 0 = padding"""
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            q, k, v = (self.split(layer[name](x)) for name in ("query", "key", "value"))
            scores = q @ k.transpose(2, 3) / q.shape[3] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(mask[:, None, None] == 0, float("-inf"))
            seen = (scores.softmax(3) @ v).transpose(1, 2).flatten(2)
            x = layer["norm_a"](x + layer["out"](seen))
            x = layer["norm_b"](x + layer["narrow"](F.relu(layer["wide"](x))))
        return x
