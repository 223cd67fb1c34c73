import torch
from torch import nn
import torch.nn.functional as F

class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.1):
        super().__init__()
        self.d_k = d_k
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.d_k ** 0.5
        if mask is not None:
            # padding positions get (almost) no attention
            scores = scores.masked_fill(mask == 0, 1e-9)
        weights = self.drop(F.softmax(scores, dim=-1))
        return torch.matmul(weights, v), weights
