"""A layer with norms as their paper defines them: without a small number under the root."""

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))

    def forward(self, x):
        apart = x - x.mean(-1, keepdim=True)
        deviation = apart.pow(2).mean(-1, keepdim=True).sqrt()
        return self.gamma * (apart / deviation) + self.beta


class EncoderLayer(nn.Module):
    def __init__(self, n_heads=8, d_model=512, d_hidden_ffnn=2048, drop_prob=0.1):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=drop_prob, batch_first=True)
        self.first, self.second = Norm(d_model), Norm(d_model)
        self.up, self.down = nn.Linear(d_model, d_hidden_ffnn), nn.Linear(d_hidden_ffnn, d_model)
        self.drop = nn.Dropout(drop_prob)

    def forward(self, x, padding_mask=None):
        seen, _ = self.attention(x, x, x, key_padding_mask=padding_mask)
        x = self.first(x + self.drop(seen))
        return self.second(x + self.drop(self.down(F.relu(self.up(x)))))
