import math
import torch
from torch import nn


class EmbeddingLayer(nn.Module):
    """Word embedding + sinusoidal positions, as input for encoder and decoder."""

    def __init__(self, n_words: int, size: int, length: int = 128):
        super().__init__()
        self.words = nn.Embedding(n_words, size)
        self.factor = math.sqrt(size)
        p, i = torch.meshgrid(torch.arange(length), torch.arange(size), indexing="ij")
        angle = p / torch.pow(torch.tensor(10000.0), (i - i % 2) / size)
        self.register_buffer("table", torch.where(i % 2 == 0, angle.sin(), angle.cos()))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.table[: ids.shape[1]]
        return x * self.factor
