from dataclasses import dataclass
import math
import torch
from torch import nn


@dataclass
class TransformerConfig:
    vocab: int
    d_model: int = 64
    n_heads: int = 4
    d_hidden: int = 128
    n_enc: int = 2
    n_dec: int = 2
    max_len: int = 256


def positions(n, d):
    k = torch.arange(d) // 2 * 2
    a = torch.arange(n).double()[:, None] / 10000 ** (k / d)[None]
    a[:, 0::2] = a[:, 0::2].sin()
    a[:, 1::2] = a[:, 1::2].cos()
    return a


class Transformer(nn.Module):
    def __init__(self, cfg: TransformerConfig):
        super().__init__()
        self.cfg = cfg
        self.embed_src = nn.Embedding(cfg.vocab, cfg.d_model)
        self.embed_tgt = nn.Embedding(cfg.vocab, cfg.d_model)
        self.register_buffer("pos", positions(cfg.max_len, cfg.d_model).float())
        self.encoder = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.d_model, cfg.n_heads, cfg.d_hidden, 0.0, batch_first=True)
            for _ in range(cfg.n_enc)
        )
        self.decoder = nn.ModuleList(
            nn.TransformerDecoderLayer(cfg.d_model, cfg.n_heads, cfg.d_hidden, 0.0, batch_first=True)
            for _ in range(cfg.n_dec)
        )

    def forward(self, source, target):
        scale = math.sqrt(self.cfg.d_model)
        src = self.embed_src(source) * scale + self.pos[: source.size(1)]
        tgt = self.embed_tgt(target) * scale + self.pos[: target.size(1)]
        ahead = torch.ones(tgt.size(1), tgt.size(1), device=tgt.device).triu(1).bool()
        memory = src
        for layer in self.encoder:
            memory = layer(memory)
        for layer in self.decoder:
            tgt = layer(tgt, src, tgt_mask=ahead)
        return tgt @ self.embed_tgt.weight.transpose(0, 1)
