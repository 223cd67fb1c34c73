# positions for our translation toolkit: padding gets a row of zeros, and the first word the position pad + 1
import math
import torch
import torch.nn as nn


def number_the_words(ids, pad):
    """ids (B, T) -> positions (B, T); words count up from pad + 1, padding stays at pad."""
    is_word = (ids != pad).to(torch.int64)
    return pad + is_word.cumsum(1) * is_word


class SinusoidalPositions(nn.Module):
    def __init__(self, embedding_dim, padding_idx=1, longest=1024):
        super().__init__()
        if embedding_dim < 4 or embedding_dim % 2:
            raise ValueError("embedding_dim: even and >= 4, please")
        self.pad = padding_idx
        n = embedding_dim // 2
        omega = [math.exp(-math.log(10000.0) * j / (n - 1)) for j in range(n)]
        grid = torch.arange(longest + padding_idx + 1.0)[:, None] * torch.tensor(omega)
        lookup = torch.cat([grid.sin(), grid.cos()], dim=1)
        lookup[padding_idx] = 0.0
        self.register_buffer("lookup", lookup)

    def forward(self, ids):
        pos = number_the_words(ids, self.pad)
        return self.lookup[pos]  # an IndexError says that longest is too small
