import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.dk = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        """mask: True = attend; (L, S), (B, L, S) or (B, H, L, S)"""
        B = q.size(0)
        q = self.wq(q).view(B, -1, self.h, self.dk).transpose(1, 2)
        k = self.wk(k).view(B, -1, self.h, self.dk).transpose(1, 2)
        v = self.wv(v).view(B, -1, self.h, self.dk).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.dk)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            elif mask.dim() == 4:
                mask = mask.expand(-1, self.h, -1, -1)
            s = s.masked_fill(~mask, float("-inf"))
        out = (s.softmax(-1) @ v).transpose(1, 2).reshape(B, -1, self.h * self.dk)
        return self.wo(out)
