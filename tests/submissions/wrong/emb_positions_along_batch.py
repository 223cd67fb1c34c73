import math
import torch
from torch import nn


class TransformerEmbedding(nn.Module):
    """Token embedding plus sinusoidal positions for ids (batch, seq_len)."""

    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.d_model = d_model
        t = torch.arange(max_len)[:, None]
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(t * div), torch.cos(t * div)
        self.register_buffer("pe", pe)

    def forward(self, ids):
        x = self.tok(ids) * math.sqrt(self.d_model)
        return x + self.pe[: x.size(0)]
