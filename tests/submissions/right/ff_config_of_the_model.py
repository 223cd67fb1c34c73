from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ModelConfig:
    n_embd: int = 64
    n_hidden: int = 256
    dropout: float = 0.1


class Embeddings(nn.Module):
    def __init__(self, config, vocab_size):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids):
        return self.dropout(self.tokens(ids))


class FeedForward(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.up = nn.Linear(config.n_embd, config.n_hidden)
        self.down = nn.Linear(config.n_hidden, config.n_embd)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))
