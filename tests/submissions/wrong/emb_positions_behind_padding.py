"""Token and position embeddings. The position of a token is its place in the sequence, counted from 0."""
import torch
from torch import nn


class Embeddings(nn.Module):
    def __init__(self, vocab_size, dim, max_len=128, padding_idx=0):
        super().__init__()
        self.padding_idx = padding_idx
        self.tokens = nn.Embedding(vocab_size, dim, padding_idx=padding_idx)
        self.positions = nn.Embedding(max_len, dim)

    def forward(self, ids):
        mask = ids.ne(self.padding_idx).long()
        positions = torch.cumsum(mask, dim=1) * mask
        return self.tokens(ids) + self.positions(positions)
