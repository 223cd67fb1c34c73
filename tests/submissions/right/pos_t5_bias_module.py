import math
import torch
from torch import nn


class RelativePositionBias(nn.Module):
    def __init__(self, bidirectional=True, num_buckets=32, max_distance=128, n_heads=8):
        super().__init__()
        self.bidirectional = bidirectional
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.relative_attention_bias = nn.Embedding(num_buckets, n_heads)

    def bucket(self, rel):
        n = self.num_buckets
        out = torch.zeros_like(rel)
        if self.bidirectional:
            n //= 2
            out += n * (rel > 0).long()
            dist = rel.abs()
        else:
            dist = (-rel).clamp_min(0)
        exact = n // 2
        # the logarithmic half; clamp_min only keeps log away from 0
        ratio = (dist.clamp_min(1).double() / exact).log() / math.log(self.max_distance / exact)
        coarse = (exact + (ratio * (n - exact)).long()).clamp_max(n - 1)
        return out + torch.where(dist < exact, dist, coarse)

    def forward(self, qlen, klen):
        dev = self.relative_attention_bias.weight.device
        context = torch.arange(qlen, device=dev)[:, None]
        memory = torch.arange(klen, device=dev)[None, :]
        values = self.relative_attention_bias(self.bucket(memory - context))  # (qlen, klen, n_heads)
        return values.permute(2, 0, 1).unsqueeze(0)  # (1, n_heads, qlen, klen)
