import math

import torch
import torch.nn as nn


def masked_softmax(vec, mask, dim=-1, epsilon=1e-5):
    vec = vec - vec.max(dim=dim, keepdim=True)[0]
    exps = torch.exp(vec)
    if mask is not None:
        exps = exps * mask.to(vec.dtype)
    return exps / (exps.sum(dim, keepdim=True) + epsilon)


class Attention(nn.Module):
    def forward(self, query, key, value, mask=None):
        score = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        p = masked_softmax(score, mask)
        return torch.matmul(p, value), p
