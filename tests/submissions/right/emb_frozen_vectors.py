import torch
from torch import nn


class PretrainedEmbedding(nn.Module):
    """Rows of vectors learnt elsewhere, which are not trained further."""

    def __init__(self, weights):
        super().__init__()
        self.rows = nn.Embedding.from_pretrained(weights)

    def forward(self, ids):
        return self.rows(ids)
