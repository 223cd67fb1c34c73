"""encoder-decoder with clones() and an attention mask that is (B, T, T) of ones and zeros"""
import copy
import torch
from torch import nn


def clones(module, n):
    return nn.ModuleList(copy.deepcopy(module) for _ in range(n))


class Heads(nn.Module):
    def __init__(self, d_model: int, heads: int, p: float):
        super().__init__()
        self.h, self.d = heads, d_model // heads
        self.proj_q, self.proj_k, self.proj_v, self.proj_o = (nn.Linear(d_model, d_model) for _ in "qkvo")
        self.p = nn.Dropout(p)
        self.attn = None

    def forward(self, x, y, mask=None):
        n = x.size(0)
        q, k, v = (f(t).reshape(n, -1, self.h, self.d).permute(0, 2, 1, 3)
                   for f, t in ((self.proj_q, x), (self.proj_k, y), (self.proj_v, y)))
        w = torch.einsum("nhid,nhjd->nhij", q, k).div(self.d ** 0.5)
        if mask is not None:
            w = w.masked_fill(mask[:, None] == 0, torch.finfo(w.dtype).min)
        self.attn = w.softmax(-1)
        return self.proj_o(torch.einsum("nhij,nhjd->nihd", self.p(self.attn), v).reshape(n, x.size(1), -1))


class FF(nn.Sequential):
    def __init__(self, d_model, d_hidden, p):
        super().__init__(nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Dropout(p), nn.Linear(d_hidden, d_model))


class EncLayer(nn.Module):
    def __init__(self, d_model, heads, d_hidden, p=0.1):
        super().__init__()
        self.a, self.f = Heads(d_model, heads, p), FF(d_model, d_hidden, p)
        self.n = clones(nn.LayerNorm(d_model), 2)
        self.p = nn.Dropout(p)

    def forward(self, x, mask=None):
        z = self.n[0](x)
        x = x + self.p(self.a(z, z, mask))
        return x + self.p(self.f(self.n[1](x)))


class DecLayer(nn.Module):
    def __init__(self, d_model, heads, d_hidden, p=0.1):
        super().__init__()
        self.s, self.c, self.f = Heads(d_model, heads, p), Heads(d_model, heads, p), FF(d_model, d_hidden, p)
        self.n = clones(nn.LayerNorm(d_model), 3)
        self.p = nn.Dropout(p)

    def forward(self, x, memory, mask=None, memory_mask=None):
        z = self.n[0](x)
        x = x + self.p(self.s(z, z, mask))
        x = x + self.p(self.c(self.n[1](x), memory, memory_mask))
        return x + self.p(self.f(self.n[2](x)))


class EncDec(nn.Module):
    def __init__(self, d_model=512, heads=8, d_hidden=2048, depth=6, p=0.1):
        super().__init__()
        self.enc = clones(EncLayer(d_model, heads, d_hidden, p), depth)
        self.dec = clones(DecLayer(d_model, heads, d_hidden, p), depth)
        self.enc_norm, self.dec_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def encode(self, src, src_mask=None):
        for layer in self.enc:
            src = layer(src, src_mask)
        return self.enc_norm(src)

    def decode(self, tgt, memory, tgt_mask=None, src_mask=None):
        for layer in self.dec:
            tgt = layer(tgt, memory, tgt_mask, src_mask)
        return self.dec_norm(tgt)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.decode(tgt, self.encode(src, src_mask), tgt_mask, src_mask)
