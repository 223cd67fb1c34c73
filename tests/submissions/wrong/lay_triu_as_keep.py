import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(q, k, v, keep=None):
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if keep is not None:
        s = s.masked_fill(~keep, torch.finfo(s.dtype).min)
    return F.softmax(s, dim=-1) @ v


class Heads(nn.Module):
    def __init__(self, n_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(n_model, n_model)
        self.memory = nn.Linear(n_model, 2 * n_model)
        self.merge = nn.Linear(n_model, n_model)

    def forward(self, x, y, keep=None):
        cut = lambda t: t.unflatten(2, (self.n_heads, -1)).movedim(2, 1)
        k, v = self.memory(y).chunk(2, dim=2)
        return self.merge(attend(cut(self.query(x)), cut(k), cut(v), keep).movedim(1, 2).flatten(2))


class CaptionLayer(nn.Module):
    def __init__(self, n_model, n_heads, n_hidden):
        super().__init__()
        self.self_heads, self.image_heads = Heads(n_model, n_heads), Heads(n_model, n_heads)
        self.wide, self.narrow = nn.Linear(n_model, n_hidden), nn.Linear(n_hidden, n_model)
        self.norms = nn.ModuleList(nn.LayerNorm(n_model) for _ in range(3))

    def forward(self, words, regions, keep):
        words = self.norms[0](words + self.self_heads(words, words, keep))
        words = self.norms[1](words + self.image_heads(words, regions))
        return self.norms[2](words + self.narrow(self.wide(words).relu()))


class CaptionDecoder(nn.Module):
    """words (B, T, n_model) look at image regions (B, R, n_model)"""

    def __init__(self, n_layers, n_model, n_heads, n_hidden):
        super().__init__()
        self.layers = nn.ModuleList(CaptionLayer(n_model, n_heads, n_hidden) for _ in range(n_layers))

    def forward(self, words, regions):
        T = words.shape[1]
        keep = torch.triu(torch.ones(T, T, dtype=torch.bool, device=words.device))
        for layer in self.layers:
            words = layer(words, regions, keep)
        return words
