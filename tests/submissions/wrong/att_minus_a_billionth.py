"""Scores, weights, values, in three lines each. ``mask`` is 1 where a query must not look, 0 where it may."""

import torch


def look(query, key, value, mask=None):
    agreement = torch.matmul(query, torch.transpose(key, -2, -1))
    agreement = agreement * key.size(-1) ** -0.5

    if mask is not None:
        agreement = agreement + mask * -1e-9

    weight = torch.softmax(agreement, dim=-1)
    return torch.matmul(weight, value), weight
