# homework 5: the whole Transformer. Id 0 is <pad>, see vocab.txt
import math

import torch
from torch import nn

PAD_ID = 0


class Positions(nn.Module):
    def __init__(self, d_model, max_len=400):
        super().__init__()
        place = torch.arange(max_len)[:, None]
        angle = place / torch.pow(10000.0, torch.arange(0, d_model, 2) / d_model)
        table = torch.zeros(max_len, d_model)
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, memory, hidden):
        q, k, v = (
            f(y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for f, y in ((self.q, x), (self.k, memory), (self.v, memory))
        )
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout, decodes):
        super().__init__()
        self.attentions = nn.ModuleList(Attention(d_model, n_heads) for _ in range(1 + decodes))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2 + decodes))
        self.network = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, hidden, memory=None, memory_hidden=None):
        x = self.norms[0](x + self.drop(self.attentions[0](x, x, hidden)))
        if memory is not None:
            x = self.norms[1](x + self.drop(self.attentions[1](x, memory, memory_hidden)))
        return self.norms[-1](x + self.drop(self.network(x)))


class Transformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=64, n_heads=4, n_layers=2, d_ff=128, dropout=0.1):
        super().__init__()
        self.root = math.sqrt(d_model)
        self.source = nn.Embedding(src_vocab, d_model, padding_idx=PAD_ID)
        self.target = nn.Embedding(tgt_vocab, d_model, padding_idx=PAD_ID)
        self.positions, self.drop = Positions(d_model), nn.Dropout(dropout)
        self.encoder = nn.ModuleList(Block(d_model, n_heads, d_ff, dropout, False) for _ in range(n_layers))
        self.decoder = nn.ModuleList(Block(d_model, n_heads, d_ff, dropout, True) for _ in range(n_layers))
        self.head = nn.Linear(d_model, tgt_vocab, bias=False)

    def forward(self, src, tgt):
        padding = (src == PAD_ID)[:, None, None, :]
        memory = self.drop(self.positions(self.source(src) * self.root))
        for block in self.encoder:
            memory = block(memory, padding)
        later = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool, device=tgt.device).triu(1)
        hidden = later | (tgt == PAD_ID)[:, None, None, :]
        y = self.drop(self.positions(self.target(tgt) * self.root))
        for block in self.decoder:
            y = block(y, hidden, memory, padding)
        return self.head(y)
