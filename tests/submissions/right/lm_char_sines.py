"""Character model for the poetry assignment. Post-norm layers as in the 2017 paper, but only the decoder half,
without attention to an encoder; sinusoidal positions; embeddings scaled by sqrt(d_model)."""
import math
import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=5000):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, :x.size(1)]


class CharLM(nn.Module):
    def __init__(self, n_chars, d_model=128, nhead=4, d_ff=512, num_layers=3, dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.embed = nn.Embedding(n_chars, d_model)
        self.pos = PositionalEncoding(d_model)
        self.dropout = nn.Dropout(dropout)
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_ff, dropout, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, num_layers)
        self.out = nn.Linear(d_model, n_chars)

    def forward(self, chars):
        n = chars.size(1)
        hide = torch.triu(torch.ones(n, n, dtype=torch.bool, device=chars.device), diagonal=1)
        x = self.dropout(self.pos(self.embed(chars) * math.sqrt(self.d_model)))
        return self.out(self.layers(x, mask=hide))
