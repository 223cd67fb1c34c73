import torch
import math


def sequence_mask(lengths, maxlen):
    return torch.arange(maxlen)[None, :] < lengths[:, None]


def attention(query, key, value, lengths):
    """query (B, L, E), key, value (B, S, E), lengths (B,) of the keys"""
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(query.size(-1))
    mask = sequence_mask(lengths, key.size(1))
    scores = scores.masked_fill(~mask.unsqueeze(1), -1e9)
    return torch.bmm(torch.softmax(scores, dim=-1), value)
