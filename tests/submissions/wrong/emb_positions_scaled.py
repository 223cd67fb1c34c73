"""ids -> embeddings + positions -> self-attention"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TokenMixer(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, nhead: int, max_len: int = 1000):
        super().__init__()
        self.d_model, self.nhead = d_model, nhead
        self.embed = nn.Embedding(vocab_size, d_model)
        rate = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model)
        ang = torch.arange(max_len).unsqueeze(1) * rate
        self.register_buffer("pe", torch.stack([torch.sin(ang), torch.cos(ang)], dim=-1).flatten(1))
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, ids):
        B, T = ids.shape
        if T > len(self.pe):
            raise ValueError("max_len")
        x = (self.embed(ids) + self.pe[:T]) * math.sqrt(self.d_model)
        q, k, v = self.qkv(x).view(B, T, 3, self.nhead, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(B, T, -1))
