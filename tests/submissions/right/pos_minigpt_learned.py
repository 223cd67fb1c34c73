"""positions for a gpt that fits on a postcard"""
from dataclasses import dataclass
import torch, torch.nn as nn

@dataclass
class Conf:
    block_size: int = 256
    n_embd: int = 96
    dropout: float = 0.0

class Pos(nn.Module):
    def __init__(self, conf):
        super().__init__()
        self.conf = conf
        self.wpe = nn.Embedding(conf.block_size, conf.n_embd)
        self.drop = nn.Dropout(conf.dropout)

    def forward(self, tok):
        T = tok.size(1)
        assert T <= self.conf.block_size, f"{T} tokens do not fit into a block of {self.conf.block_size}"
        return self.drop(tok + self.wpe(torch.arange(T, device=tok.device))) # (B,T,C) + (T,C)
