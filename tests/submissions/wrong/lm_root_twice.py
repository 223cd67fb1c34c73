import math

import torch
import torch.nn as nn


def sinusoid(length, width, device):
    place = torch.arange(length, device=device, dtype=torch.get_default_dtype())[:, None]
    rate = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width, device=device)
    table[:, 0::2], table[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
    return table


class WordModel(nn.Module):
    """A transformer language model over words. Embeddings are multiplied by sqrt(d_model), as in the paper."""

    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.encoder = nn.Embedding(ntoken, d_model)
        layers = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layers, nlayers, enable_nested_tensor=False)
        self.decoder = nn.Linear(d_model, ntoken)

    def forward(self, src):
        length = src.shape[1]
        ahead = nn.Transformer.generate_square_subsequent_mask(length, device=src.device)
        x = self.encoder(src) * math.sqrt(self.d_model)
        x = x * math.sqrt(self.d_model) + sinusoid(length, self.d_model, src.device).to(x)
        output = self.transformer_encoder(x, ahead)
        return self.decoder(output)
