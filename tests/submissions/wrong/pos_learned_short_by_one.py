import torch
from torch import nn


class PositionEmbedding(nn.Module):
    def __init__(self, *, sequence_length, output_dim):
        super().__init__()
        self.sequence_length = sequence_length
        self.embeddings = nn.Embedding(sequence_length, output_dim)

    def forward(self, inputs):
        steps = inputs.shape[1]
        if steps >= self.sequence_length:
            raise ValueError(f"{steps} steps do not fit")
        return inputs + self.embeddings.weight[:steps]
