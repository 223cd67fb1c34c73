"""Embeddings of words and of their numbers in the sentence. Filler gets neither, on whichever side it stands."""
import torch
from torch import nn


class SentenceEmbedding(nn.Module):
    def __init__(self, vocab_size, dim, pad_id=0, longest=256):
        super().__init__()
        self.pad_id = pad_id
        self.words = nn.Embedding(vocab_size, dim, padding_idx=pad_id)
        self.numbers = nn.Embedding(longest + 1, dim, padding_idx=0)  # the first word is number 1

    def forward(self, ids):
        is_word = torch.ne(ids, self.pad_id)
        number = torch.cumsum(is_word, dim=-1) * is_word
        together = self.words(ids) + self.numbers(number)
        return together.masked_fill(~is_word[..., None], 0.0)
