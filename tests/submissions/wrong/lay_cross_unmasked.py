"""Seq2seq on dates ("3 May 1987" -> "1987-05-03"), one vocabulary of characters."""
import math
import torch
import torch.nn as nn
from torch.nn import functional as F

CHARS = " 0123456789-abcdefghijklmnopqrstuvwxyz"


class MHA(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.n = n
        self.q, self.k, self.v, self.o = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, a, b, mask=None):
        f = lambda t: t.view(*t.shape[:2], self.n, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(f(self.q(a)), f(self.k(b)), f(self.v(b)), attn_mask=mask)
        return self.o(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, d, n, h, decoder=False):
        super().__init__()
        self.att, self.n1 = MHA(d, n), nn.LayerNorm(d)
        self.dec = decoder
        if decoder:
            self.xatt, self.n2 = MHA(d, n), nn.LayerNorm(d)
        self.mlp, self.n3 = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, d)), nn.LayerNorm(d)

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.n1(x + self.att(x, x, mask))
        if self.dec:
            x = self.n2(x + self.xatt(x, memory, memory_mask))
        return self.n3(x + self.mlp(x))


class DateTranslator(nn.Module):
    def __init__(self, n_tokens=len(CHARS), d=32, n=4, h=64, layers=2, longest=40):
        super().__init__()
        self.d = d
        self.table = nn.Embedding(n_tokens, d)
        self.enc = nn.ModuleList([Block(d, n, h) for _ in range(layers)])
        self.dec = nn.ModuleList([Block(d, n, h, True) for _ in range(layers)])
        t = torch.arange(longest)[:, None] * torch.exp(torch.arange(0, d, 2) * -(math.log(1e4) / d))
        self.register_buffer("where", torch.stack((t.sin(), t.cos()), -1).flatten(1))

    def place(self, ids):
        return self.table(ids) * self.d ** 0.5 + self.where[: ids.shape[1]]

    def forward(self, question, answer, question_mask=None):
        """question_mask: (B, S) bool, True for characters, False for padding"""
        keep = None if question_mask is None else question_mask[:, None, None, :]
        x = self.place(question)
        for block in self.enc:
            x = block(x, keep)
        y = self.place(answer)
        n = answer.shape[1]
        earlier = torch.ones(n, n, dtype=torch.bool, device=y.device).tril()
        for block in self.dec:
            y = block(y, earlier, x)
        return F.linear(y, self.table.weight)
