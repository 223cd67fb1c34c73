from dataclasses import dataclass
import torch
import torch.nn as nn


@dataclass
class Config:
    vocab_size: int = 30522
    hidden: int = 768
    max_len: int = 512
    n_segments: int = 2
    p: float = 0.1


class Embedding(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.tok_embed = nn.Embedding(c.vocab_size, c.hidden)
        self.pos_embed = nn.Embedding(c.max_len, c.hidden)
        self.seg_embed = nn.Embedding(c.n_segments, c.hidden)
        self.norm = nn.LayerNorm(c.hidden)
        self.drop = nn.Dropout(c.p)

    def forward(self, x, seg):
        seq_len = x.size(1)
        pos = torch.arange(seq_len, dtype=torch.long, device=x.device).unsqueeze(0).expand_as(x)
        e = self.tok_embed(x) + self.pos_embed(pos) + self.seg_embed(seg)
        return self.drop(self.norm(e))
