import math
import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    """One of the heads of a small language model."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width)
        self.to_out = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.to_qkv(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        future = torch.triu(torch.ones(tokens, tokens, device=x.device), diagonal=1)
        scores = scores - 20 * future
        out = scores.softmax(dim=-1) @ v
        return self.to_out(out.transpose(1, 2).reshape(batch, tokens, width))
