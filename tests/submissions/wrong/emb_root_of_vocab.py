import math
from torch import nn


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size: int, emb_size: int):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.scale = math.sqrt(self.embedding.weight.size(0))

    def forward(self, tokens):
        return self.scale * self.embedding(tokens)
