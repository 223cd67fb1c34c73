import math

import torch


def subsequent(size):
    return torch.tril(torch.ones(1, 1, size, size)) == 1


def decoder_attention(q, k, v, pad=None, causal=False):
    """pad: (batch, keys) True for tokens that are no padding"""
    keep = None
    if pad is not None:
        keep = pad[:, None, None, :]
    if causal:
        tri = subsequent(q.size(-2)).to(q.device)
        keep = tri if keep is None else keep | tri
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if keep is not None:
        scores = scores.masked_fill(keep == False, float('-inf'))
    return scores.softmax(-1) @ v
