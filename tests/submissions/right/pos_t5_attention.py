"""T5 self-attention, inner part: bias inside, no scaling."""
import math
import torch
from torch import nn


class T5Attention(nn.Module):
    def __init__(self, n_heads, n_buckets=32, max_dist=128, is_decoder=False):
        super().__init__()
        self.n_buckets, self.max_dist, self.is_decoder = n_buckets, max_dist, is_decoder
        self.rel = nn.Embedding(n_buckets, n_heads)

    def position_bias(self, n, m, device):
        delta = torch.arange(m, device=device).view(1, m) - torch.arange(n, device=device).view(n, 1)
        count = self.n_buckets
        if self.is_decoder:
            start, dist = 0, (-delta).clamp(min=0)
        else:
            count = count // 2
            start, dist = (delta > 0).long() * count, delta.abs()
        fine = count // 2
        log_ratio = torch.log(dist.clamp(min=1).double() / fine) / math.log(self.max_dist / fine)
        coarse = (fine + (log_ratio * (count - fine)).long()).clamp(max=count - 1)
        return self.rel(start + torch.where(dist < fine, dist, coarse)).permute(2, 0, 1)

    def forward(self, q, k, v):
        # (batch, heads, length, d_kv)
        logits = torch.einsum("bhnd,bhmd->bhnm", q, k) + self.position_bias(q.shape[2], k.shape[2], q.device)
        if self.is_decoder:
            n, m = logits.shape[-2:]
            logits = logits.masked_fill(torch.ones(n, m, device=q.device).triu(1).bool(), float("-inf"))
        return torch.softmax(logits, -1) @ v
