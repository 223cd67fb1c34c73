"""A decoder of text beside sound: what all layers read of the sound is projected before the first of them."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.sq, self.sk, self.sv, self.so = nn.Linear(dim, dim), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.cq, self.ck, self.cv, self.co = nn.Linear(dim, dim), nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm_s, self.norm_c, self.norm_m = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def cut(self, y):
        return y.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def heard(self, sound):
        return self.cut(self.ck(sound)), self.cut(self.cv(sound))

    def forward(self, x, heard):
        h = self.norm_s(x)
        own = scaled_dot_product_attention(self.cut(self.sq(h)), self.cut(self.sk(h)), self.cut(self.sv(h)), is_causal=True)
        x = x + self.so(own.transpose(1, 2).flatten(2))
        read = scaled_dot_product_attention(self.cut(self.cq(self.norm_c(x))), *heard)
        x = x + self.co(read.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm_m(x))


class TextDecoder(nn.Module):
    def __init__(self, vocab, longest, dim, heads, depth):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, dim), nn.Parameter(torch.randn(longest, dim) / 100)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.last = nn.LayerNorm(dim)

    def forward(self, tokens, sound):
        heard = [block.heard(sound) for block in self.blocks]
        x = self.words(tokens) + self.places[: tokens.shape[1]]
        for block, each in zip(self.blocks, heard):
            x = block(x, each)
        return self.last(x) @ self.words.weight.T
