"""A language model whose head may borrow the table of its tokens: heads="own" or heads="lent"."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.before_attention, self.before_network = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention = nn.MultiheadAttention(d, h, batch_first=True)
        self.network = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        n = x.shape[1]
        later = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        y = self.before_attention(x)
        x = x + self.attention(y, y, y, attn_mask=later, need_weights=False)[0]
        return x + self.network(self.before_network(x))


class Lender(nn.Module):
    """tied_head: "own" for a matrix of its own, "lent" for that of the tokens; ids (B, T) -> logits (B, T, n_vocab)."""

    def __init__(self, n_vocab, d=48, h=4, depth=2, longest=128, tied_head="own"):
        super().__init__()
        self.tokens, self.places = nn.Embedding(n_vocab, d), nn.Embedding(longest, d)
        self.blocks = nn.ModuleList([Block(d, h) for _ in range(depth)])
        self.end = nn.LayerNorm(d)
        self.head = nn.Linear(d, n_vocab, bias=False)
        if tied_head == "lent":
            self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.end(x))
