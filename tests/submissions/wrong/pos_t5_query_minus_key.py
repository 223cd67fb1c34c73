import math
import torch
from torch import nn


def relative_position_bucket(rel, bidirectional, n_buckets, max_dist):
    side = torch.zeros_like(rel)
    if bidirectional:
        n_buckets = n_buckets // 2
        side = (rel > 0).long() * n_buckets
        rel = rel.abs()
    else:
        rel = torch.clamp(-rel, min=0)
    exact = n_buckets // 2
    log_part = torch.log(rel.clamp(min=1).double() / exact) / math.log(max_dist / exact)
    far = torch.clamp(exact + (log_part * (n_buckets - exact)).long(), max=n_buckets - 1)
    return side + torch.where(rel < exact, rel, far)


class RelBias(nn.Module):
    def __init__(self, heads, buckets=32, max_dist=128, bidirectional=True):
        super().__init__()
        self.buckets, self.max_dist, self.bidirectional = buckets, max_dist, bidirectional
        self.emb = nn.Embedding(buckets, heads)

    def forward(self, q_len, k_len):
        q = torch.arange(q_len)
        k = torch.arange(k_len)
        rel = q[:, None] - k[None, :]
        idx = relative_position_bucket(rel, self.bidirectional, self.buckets, self.max_dist)
        return self.emb(idx.to(self.emb.weight.device)).permute(2, 0, 1)
