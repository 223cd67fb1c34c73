from dataclasses import dataclass

from torch import nn


@dataclass
class EmbeddingOptions:
    num_tokens: int
    size: int
    keep_small: bool = True


class Tokens(nn.Module):
    def __init__(self, options: EmbeddingOptions):
        super().__init__()
        limit = 1.0 if options.keep_small else None
        self.vectors = nn.Embedding(options.num_tokens, options.size, max_norm=limit)

    def forward(self, ids):
        return self.vectors(ids)
