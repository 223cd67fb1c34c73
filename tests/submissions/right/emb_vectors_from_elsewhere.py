import torch
import torch.nn as nn


class WordEmbedding(nn.Module):
    """Looks up vectors that were trained elsewhere, GloVe for instance."""

    def __init__(self, pretrained_vectors, freeze=False, padding_idx=None):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(
            torch.as_tensor(pretrained_vectors), freeze=freeze, padding_idx=padding_idx
        )

    def forward(self, token_ids):
        return self.embedding(token_ids)
