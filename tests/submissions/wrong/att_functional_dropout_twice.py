"""Self-attention for a small language model. One rate of dropout, used in two places."""
import torch
from torch import nn
from torch.nn import functional as fn


class LookBack(nn.Module):
    def __init__(self, width, heads, rate=0.2):
        super().__init__()
        self.heads, self.rate = heads, rate
        self.to_qkv = nn.Linear(width, 3 * width)
        self.back = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (part.reshape(batch, time, self.heads, -1).permute(0, 2, 1, 3)
                   for part in self.to_qkv(x).split(width, dim=-1))
        later = torch.ones(time, time, device=x.device).triu(1) > 0
        scores = (q @ k.transpose(2, 3)) * q.shape[-1] ** -0.5
        weights = scores.masked_fill(later, -torch.inf).softmax(-1)
        weights = fn.dropout(weights, self.rate)
        mixed = (weights @ v).permute(0, 2, 1, 3).reshape(batch, time, width)
        return fn.dropout(self.back(mixed), self.rate, training=self.training)
