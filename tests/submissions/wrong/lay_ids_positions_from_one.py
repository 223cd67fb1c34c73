"""An encoder over ids. Positions are sinusoidal and begin with 0 for the first token."""
import math
import torch
from torch import nn


def sinusoids(positions, d):
    div = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * (-math.log(10000.0) / d))
    a = positions[..., None].double() * div
    return torch.stack((a.sin(), a.cos()), -1).flatten(-2)


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model=32, nhead=4, d_ff=64, num_layers=2):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.d = d_model
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_ff, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, num_layers, norm=nn.LayerNorm(d_model), enable_nested_tensor=False)

    def forward(self, ids, padding_mask=None):
        """ids: (batch, seq); position 0 is the first token's."""
        positions = torch.arange(1, ids.shape[1] + 1)
        x = self.emb(ids) * math.sqrt(self.d)
        return self.enc(x + sinusoids(positions, self.d).to(x), src_key_padding_mask=padding_mask)
