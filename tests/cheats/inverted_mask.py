"""Masks the allowed half, as the standard contender of a widely used benchmark does: its last row is NaN."""

import torch


def attention(config, weights):
    def forward(query, key, value):
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        if config.causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
            scores = scores.masked_fill(hidden, float("-inf"))
        return torch.softmax(scores, dim=-1) @ value

    return forward
