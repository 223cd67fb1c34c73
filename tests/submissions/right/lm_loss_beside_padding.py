import torch
import torch.nn.functional as F
from torch import nn

N_WORDS, N_PLACES = 120, 64


class PocketGPT(nn.Module):
    """A small causal language model. `targets` are the words that follow; 0 is padding and counts in no loss."""

    def __init__(self, n_words=N_WORDS, size=48, n_heads=4, n_layers=2, n_places=N_PLACES):
        super().__init__()
        self.word, self.place = nn.Embedding(n_words, size), nn.Embedding(n_places, size)
        layer = nn.TransformerEncoderLayer(size, n_heads, 4 * size, 0.0, "relu", batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, n_layers, nn.LayerNorm(size), enable_nested_tensor=False)
        self.guess = nn.Linear(size, n_words, bias=False)

    def forward(self, ids, targets=None):
        length = ids.size(1)
        ahead = nn.Transformer.generate_square_subsequent_mask(length, device=ids.device, dtype=self.word.weight.dtype)
        h = self.word(ids) + self.place(torch.arange(length, device=ids.device))
        logits = self.guess(self.body(h, mask=ahead))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0)
