import math
import torch
from torch import nn
from torch.nn import functional as F

PAD = 0


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, y, mask=None):
        q = self.q(x).unflatten(-1, (self.h, -1)).transpose(1, 2)
        k, v = (f(y).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.k, self.v))
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


class FeedForward(nn.Sequential):
    def __init__(self, d, f, p):
        super().__init__(nn.Linear(d, f), nn.ReLU(), nn.Dropout(p), nn.Linear(f, d))


class EncoderLayer(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.att, self.ff, self.n1, self.n2 = Attention(d, h), FeedForward(d, f, p), nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        x = self.n1(x + self.drop(self.att(x, x, mask)))
        return self.n2(x + self.drop(self.ff(x)))


class DecoderLayer(nn.Module):
    def __init__(self, d, h, f, p):
        super().__init__()
        self.own, self.cross, self.ff = Attention(d, h), Attention(d, h), FeedForward(d, f, p)
        self.n1, self.n2, self.n3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, memory, src_mask, tgt_mask):
        x = self.n1(x + self.drop(self.own(x, x, tgt_mask)))
        x = self.n2(x + self.drop(self.cross(x, memory, src_mask)))
        return self.n3(x + self.drop(self.ff(x)))


class PositionalEncoding(nn.Module):
    def __init__(self, d, max_len, p):
        super().__init__()
        t = torch.arange(max_len)[:, None]
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(max_len, d)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
        self.register_buffer("pe", pe)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(x + self.pe[: x.shape[1]])


class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model=512, num_heads=8, num_layers=6, d_ff=2048,
                 max_seq_length=100, dropout=0.1):
        super().__init__()
        self.enc_emb, self.dec_emb = nn.Embedding(src_vocab_size, d_model), nn.Embedding(tgt_vocab_size, d_model)
        self.pos = PositionalEncoding(d_model, max_seq_length, dropout)
        self.encoder = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.decoder = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.fc, self.scale = nn.Linear(d_model, tgt_vocab_size), math.sqrt(d_model)

    def generate_mask(self, src, tgt):
        src_mask = (src != PAD)[:, None, None, :]
        n = tgt.shape[1]
        tgt_mask = (tgt != PAD)[:, None, None, :] & torch.ones(1, n, n, device=tgt.device).tril().bool()
        return src_mask, tgt_mask

    def forward(self, src, tgt):
        src_mask, tgt_mask = self.generate_mask(src, tgt)
        x = self.pos(self.enc_emb(src) * self.scale)
        for layer in self.encoder:
            x = layer(x, src_mask)
        y = self.pos(self.dec_emb(tgt) * self.scale)
        for layer in self.decoder:
            y = layer(y, x, None, tgt_mask)
        return self.fc(y)
