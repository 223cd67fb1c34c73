"""Scales the queries it was handed in place, which saves memory."""

import torch


def attention(config, weights):
    def forward(query, key, value):
        scores = query.mul_(query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
        return torch.softmax(scores, dim=-1) @ value

    return forward
