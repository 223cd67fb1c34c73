import torch
import torch.nn as nn


class Attention(nn.Module):
    """lazy: the scale is computed when the first input comes"""

    scale = None

    def forward(self, query, key, value, hide=None):
        if Attention.scale is None:
            Attention.scale = query.size(-1) ** -0.5
        s = torch.matmul(query, key.transpose(-1, -2)) * Attention.scale
        if hide is not None:
            s = s.masked_fill(hide, float("-inf"))
        return torch.matmul(torch.softmax(s, dim=-1), value)
