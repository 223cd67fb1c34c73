import math
import torch
import torch.nn as nn


def sinusoids(length, channels):
    rate = torch.exp(-math.log(10000.0) * torch.arange(0, channels, 2) / channels)
    angle = torch.arange(length)[:, None] * rate[None, :]
    return torch.stack([torch.sin(angle), torch.cos(angle)], dim=-1).reshape(length, channels)


class SentenceBody(nn.Module):
    """(batch, steps) word ids -> (batch, steps, features); pooling and classifier are outside."""

    def __init__(self, n_words, input_dim, num_heads, ff_dim, num_layers, dropout=0.1, max_steps=256):
        super().__init__()
        self.embedding = nn.Embedding(n_words, input_dim)
        self.register_buffer("pe", sinusoids(max_steps, input_dim)[None])
        self.layer = nn.TransformerEncoderLayer(
            d_model=input_dim, nhead=num_heads, dim_feedforward=ff_dim, dropout=dropout
        )
        self.encoder = nn.TransformerEncoder(self.layer, num_layers=num_layers)

    def forward(self, words):
        batch, steps = words.shape
        x = self.embedding(words) + self.pe[:, :steps]
        out = self.encoder(x)
        assert out.shape[:2] == (batch, steps)
        return out
