"""Linear penalties for a decoder that only looks back. No tensor is kept: they are made where they are added."""

import torch


def head_slopes(heads):
    ratio = 2 ** (-8 / heads)
    return torch.tensor([ratio**n for n in range(heads)])


def alibi_penalty(heads, queries, keys):
    behind = torch.arange(queries).unsqueeze(1) + (keys - queries) - torch.arange(keys).unsqueeze(0)
    penalty = -head_slopes(heads).view(heads, 1, 1) * behind
    return penalty.masked_fill(behind < 0, float("-inf"))
