import torch
from torch import nn


class BookEmbedding(nn.Module):
    """Books are numbered from 1; id 0 fills up short histories, and its vector is zeros."""

    def __init__(self, n_books, width):
        super().__init__()
        self.table = nn.Embedding(n_books + 1, width, padding_idx=0)
        with torch.no_grad():
            self.table.weight[1:].normal_(std=width**-0.5)

    def forward(self, history):
        return self.table(history)
