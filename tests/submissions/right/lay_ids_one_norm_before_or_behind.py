"""Sentence encoder. `first`: norms in front of their sublayers, and one norm behind everything instead of before it."""

from torch import nn


class SentenceEncoder(nn.Module):
    def __init__(self, vocab: int, width: int, depth: int, heads: int, dropout: float = 0.1, norm_first: bool = False):
        super().__init__()
        self.norm_first = norm_first
        self.lookup = nn.Embedding(vocab, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(dropout)
        make = nn.TransformerEncoderLayer
        self.body = nn.ModuleList(
            make(width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=norm_first)
            for _ in range(depth)
        )

    def forward(self, tokens):
        h = self.lookup(tokens)
        h = self.drop(h if self.norm_first else self.norm(h))
        for layer in self.body:
            h = layer(h)
        return self.norm(h) if self.norm_first else h
