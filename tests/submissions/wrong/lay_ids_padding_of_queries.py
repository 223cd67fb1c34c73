import math
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, mask):
        q, k, v = (f(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        s = s.masked_fill(~mask, -1e9)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, d, h, f, dropout):
        super().__init__()
        self.att, self.up, self.down = Attention(d, h), nn.Linear(d, f), nn.Linear(f, d)
        self.n1, self.n2, self.drop = nn.LayerNorm(d), nn.LayerNorm(d), nn.Dropout(dropout)

    def forward(self, x, mask):
        x = self.n1(x + self.drop(self.att(x, mask)))
        return self.n2(x + self.drop(self.down(F.relu(self.up(x)))))


class Encoder(nn.Module):
    """Encodes ids (batch, length); 0 is padding."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, dropout=0.1, max_len=128):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(Layer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))

    def forward(self, ids):
        mask = (ids != 0)[:, None, :, None]
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x, mask)
        return x
