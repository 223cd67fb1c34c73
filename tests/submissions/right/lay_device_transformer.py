import torch
import torch.nn as nn
import math

class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = dim // heads
        self.q, self.k, self.v, self.o = [nn.Linear(dim, dim) for _ in range(4)]

    def forward(self, query, source, mask):
        N, Lq, D = query.shape
        Lk = source.shape[1]
        q = self.q(query).reshape(N, Lq, self.heads, self.head_dim)
        k = self.k(source).reshape(N, Lk, self.heads, self.head_dim)
        v = self.v(source).reshape(N, Lk, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / math.sqrt(self.head_dim)
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        out = torch.einsum("nhqk,nkhd->nqhd", torch.softmax(energy, dim=3), v)
        return self.o(out.reshape(N, Lq, D))


class Side(nn.Module):
    """One layer. With cross=True it is a decoder layer."""
    def __init__(self, dim, heads, ff, cross, dropout):
        super().__init__()
        self.self_att = Attention(dim, heads)
        self.ln_self = nn.LayerNorm(dim)
        if cross:
            self.cross_att = Attention(dim, heads)
            self.ln_cross = nn.LayerNorm(dim)
        self.fc = nn.Sequential(nn.Linear(dim, ff), nn.GELU(), nn.Linear(ff, dim))
        self.ln_fc = nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)
        self.cross = cross

    def forward(self, x, self_mask, memory=None, memory_mask=None):
        n = self.ln_self(x)
        x = x + self.drop(self.self_att(n, n, self_mask))
        if self.cross:
            x = x + self.drop(self.cross_att(self.ln_cross(x), memory, memory_mask))
        return x + self.drop(self.fc(self.ln_fc(x)))


class Transformer(nn.Module):
    def __init__(self, vocab, dim, heads, depth, ff, device, max_length=100, dropout=0.0):
        super().__init__()
        self.device = device
        self.emb_src = nn.Embedding(vocab, dim)
        self.emb_trg = nn.Embedding(vocab, dim)
        self.enc = nn.ModuleList([Side(dim, heads, ff, False, dropout) for _ in range(depth)])
        self.dec = nn.ModuleList([Side(dim, heads, ff, True, dropout) for _ in range(depth)])
        self.enc_norm, self.dec_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.emb_trg.weight
        p = torch.arange(max_length, device=device)[:, None].double()
        i = torch.arange(dim, device=device)[None, :]
        angles = p / 10000 ** ((i - i % 2) / dim)
        self.register_buffer("pe", torch.where(i % 2 == 0, angles.sin(), angles.cos()).float(), persistent=False)

    def forward(self, src, trg, src_mask=None):
        # src_mask: (N, 1, 1, src_len) bool, True = token
        x = self.emb_src(src) + self.pe[:src.shape[1]]
        for layer in self.enc:
            x = layer(x, src_mask)
        memory = self.enc_norm(x)
        n = trg.shape[1]
        no_peeking = torch.tril(torch.ones((n, n), device=self.device)).bool()
        y = self.emb_trg(trg) + self.pe[:n]
        for layer in self.dec:
            y = layer(y, no_peeking, memory, src_mask)
        return self.head(self.dec_norm(y))
