"""A small decoder for captions: ids of words so far, beside vectors of a picture, give the logits of the next words."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Heads(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, size)
        self.merge = nn.Linear(size, size)

    def split(self, y):
        return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, other, allowed=None, seen=None):
        k, v = self.split(self.to_k(other)), self.split(self.to_v(other))
        if seen is not None:
            k, v = torch.cat((seen[0], k), 2), torch.cat((seen[1], v), 2)
        y = F.scaled_dot_product_attention(self.split(self.to_q(x)), k, v, attn_mask=allowed)
        return self.merge(y.transpose(1, 2).flatten(2)), (k, v)


class CaptionLayer(nn.Module):
    def __init__(self, size, heads, inner):
        super().__init__()
        self.words, self.picture = Heads(size, heads), Heads(size, heads)
        self.n1, self.n2, self.n3 = nn.LayerNorm(size), nn.LayerNorm(size), nn.LayerNorm(size)
        self.up, self.down = nn.Linear(size, inner), nn.Linear(inner, size)

    def forward(self, x, picture, allowed, seen):
        y = self.n1(x)
        y, kept = self.words(y, y, allowed, seen)
        x = x + y
        x = x + self.picture(self.n2(x), picture)[0]
        return x + self.down(F.relu(self.up(self.n3(x)))), kept


class CaptionDecoder(nn.Module):
    """ids (B, T), picture (B, P, size) -> logits (B, T, words), and what is kept of each layer's keys and values.

    One word after another: hand what was kept back as `past`, beside the new word alone, and the same picture.
    """

    def __init__(self, words, size=32, heads=4, inner=64, layers=2, longest=64):
        super().__init__()
        self.embed, self.place = nn.Embedding(words, size), nn.Embedding(longest, size)
        self.layers = nn.ModuleList(CaptionLayer(size, heads, inner) for _ in range(layers))
        self.last = nn.LayerNorm(size)

    def forward(self, ids, picture, past=None):
        before = 0 if past is None else past[0][0].shape[2]
        T = ids.shape[1]
        x = self.embed(ids) + self.place(torch.arange(before, before + T, device=ids.device))
        allowed = torch.ones(T, before + T, dtype=torch.bool, device=ids.device).tril(before)
        kept = []
        for i, layer in enumerate(self.layers):
            x, each = layer(x, picture, allowed, None if past is None else past[i])
            kept.append(each)
        return self.last(x) @ self.embed.weight.T, kept
