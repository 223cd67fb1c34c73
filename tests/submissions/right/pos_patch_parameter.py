import torch
from torch import nn


class AddPatchPositions(nn.Module):
    """(b, n, dim) -> (b, n, dim); keyword-only, I always forget the order."""

    def __init__(self, *, num_patches, dim, emb_dropout=0.):
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches, dim) * 0.02)
        self.dropout = nn.Dropout(emb_dropout)

    def forward(self, tokens):
        b, n, _ = tokens.shape
        if n > self.pos_embedding.shape[1]:
            raise ValueError(f'{n} patches, but only {self.pos_embedding.shape[1]} positions')
        tokens = tokens + self.pos_embedding[:, :n]
        return self.dropout(tokens)
