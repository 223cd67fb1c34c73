# Sprachmodell fürs Praktikum: Einbettung, Blöcke mit nn.MultiheadAttention, geteilte Ausgabematrix.
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Groessen:
    vocab_size: int = 96
    n_embd: int = 64
    n_head: int = 4
    n_layer: int = 3
    block_size: int = 128
    hidden: int = 256


class Block(nn.Module):
    def __init__(self, g: Groessen):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(g.n_embd), nn.LayerNorm(g.n_embd)
        self.achtung = nn.MultiheadAttention(g.n_embd, g.n_head, batch_first=True)
        self.netz = nn.Sequential(nn.Linear(g.n_embd, g.hidden), nn.ReLU(), nn.Linear(g.hidden, g.n_embd))

    def forward(self, x, spaeter):
        y = self.n1(x)
        x = x + self.achtung(y, y, y, attn_mask=spaeter, need_weights=False)[0]
        return x + self.netz(self.n2(x))


class Sprachmodell(nn.Module):
    """Ein GPT: causal, mit gelernten Positionen."""

    def __init__(self, g: Groessen):
        super().__init__()
        self.woerter = nn.Embedding(g.vocab_size, g.n_embd)
        self.stellen = nn.Embedding(g.block_size, g.n_embd)
        self.bloecke = nn.ModuleList([Block(g) for _ in range(g.n_layer)])
        self.norm = nn.LayerNorm(g.n_embd)
        self.kopf = nn.Linear(g.n_embd, g.vocab_size, bias=False)


    def forward(self, tokens):
        laenge = tokens.shape[1]
        spaeter = torch.ones(laenge, laenge, dtype=torch.bool, device=tokens.device).triu(1)
        x = self.woerter(tokens) + self.stellen(torch.arange(laenge, device=tokens.device))
        for block in self.bloecke:
            x = block(x, spaeter)
        return self.norm(x) @ self.woerter.weight.T
