import math
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=200):
        super().__init__()
        t = torch.arange(max_len)[:, None]
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(t * div), torch.cos(t * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class TransformerEncoderModel(nn.Module):
    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers):
        super().__init__()
        self.embedding = nn.Embedding(ntoken, d_model)
        self.pos_encoder = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, nlayers)
        self.d_model = d_model

    def forward(self, src, src_key_padding_mask=None):
        """src: (batch, seq)"""
        x = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        return self.encoder(x, src_key_padding_mask=src_key_padding_mask)
