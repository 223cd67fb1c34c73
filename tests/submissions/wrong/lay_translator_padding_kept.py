import math
import torch
from torch import nn


class Transformer(nn.Module):
    """Sequence to sequence over ids; 0 is padding in both."""

    def __init__(self, src_vocab, tgt_vocab, d_model=32, nhead=4, num_layers=2, d_ff=64, max_len=64, pad_id=0):
        super().__init__()
        self.pad_id, self.scale = pad_id, math.sqrt(d_model)
        self.src, self.tgt = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.core = nn.Transformer(d_model, nhead, num_layers, num_layers, d_ff, dropout=0.0, batch_first=True)
        self.out = nn.Linear(d_model, tgt_vocab)
        t = torch.arange(max_len)[:, None]
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
        self.register_buffer("pe", pe)
        self.memory_pad = None

    def forward(self, src, tgt):
        pad = src == self.pad_id
        if self.memory_pad is None or self.memory_pad.shape != pad.shape:
            self.memory_pad = pad
        future = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)
        a = self.src(src) * self.scale + self.pe[: src.shape[1]]
        b = self.tgt(tgt) * self.scale + self.pe[: tgt.shape[1]]
        y = self.core(a, b, tgt_mask=future, src_key_padding_mask=pad, memory_key_padding_mask=self.memory_pad)
        return self.out(y)
