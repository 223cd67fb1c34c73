import torch
from torch import nn


class PairEncoder(nn.Module):
    """Encodes a pair of sentences. segments (B, T): 0 in the first sentence, 1 in the second."""

    def __init__(self, vocab_size, d_model, nhead, num_layers, dim_feedforward, max_len=512):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = nn.Embedding(max_len, d_model)
        self.sides = nn.Embedding(2, d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)

    def forward(self, ids, segments=None, padding=None):
        """padding (B, T): True where there is no word."""
        segments = ids.new_zeros(ids.shape)
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.words(ids) + self.places(places) + self.sides(segments)
        return self.encoder(x, src_key_padding_mask=padding)
