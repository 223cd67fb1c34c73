import torch.nn as nn


class InputEmbeddings(nn.Module):
    """Section 3.4: 'we multiply those weights by sqrt(d_model)'."""

    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, x):
        return self.embedding(x) * self.d_model ** 0.5
