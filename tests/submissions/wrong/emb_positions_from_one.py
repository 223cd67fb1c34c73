"""Positions start at 0 at the first token; ids is (batch, seq), 0 is padding."""
import torch
from torch import nn


class Embeddings(nn.Module):
    """Sum of a token row and the row of its position (0, 1, 2, … from the first token)."""

    def __init__(self, vocab_size, hidden_size, max_position_embeddings=64):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size)
        self.position_embeddings = nn.Embedding(max_position_embeddings, hidden_size)

    def forward(self, input_ids):
        positions = torch.arange(1, input_ids.size(1) + 1, device=input_ids.device)
        return self.word_embeddings(input_ids) + self.position_embeddings(positions)
