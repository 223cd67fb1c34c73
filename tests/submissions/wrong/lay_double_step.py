import math
import torch
import torch.nn as nn


class Embedder(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)

    def forward(self, x):
        return self.embed(x)


class PositionalEncoder(nn.Module):
    def __init__(self, d_model, max_seq_len=80):
        super().__init__()
        self.d_model = d_model
        pe = torch.zeros(max_seq_len, d_model)
        for pos in range(max_seq_len):
            for i in range(0, d_model, 2):
                angle = pos / (10000 ** ((2 * i) / d_model))
                pe[pos, i] = math.sin(angle)
                pe[pos, i + 1] = math.cos(angle)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x * math.sqrt(self.d_model) + self.pe[: x.size(1)]


class Encoder(nn.Module):
    """ids (B, L) -> (B, L, d_model)"""

    def __init__(self, vocab_size, d_model, N, heads, d_ff):
        super().__init__()
        self.embed = Embedder(vocab_size, d_model)
        self.pe = PositionalEncoder(d_model)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(d_model, heads, d_ff, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(N)
        ])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, src, mask=None):
        # mask: (B, L), True = ignore
        x = self.pe(self.embed(src))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=mask)
        return self.norm(x)
