import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    """Chapter 3.2: tell the model where each word stands.

    The input has shape (batch, words, d_model), and so has the output.
    """

    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(p=dropout)

        # one row for each place in the sentence
        place = torch.arange(max_len, dtype=torch.float).reshape(max_len, 1)
        # one wavelength for each pair of columns; exp and log are safer than a large power
        slowness = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)

        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(place * slowness)
        pe[:, 1::2] = torch.cos(place * slowness)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        words = x.size(1)
        assert words <= self.pe.size(1), "sentence is longer than max_len"
        return self.dropout(x + self.pe[:, :words])


if __name__ == "__main__":
    show = PositionalEncoding(8, dropout=0.0)(torch.zeros(1, 3, 8))
    print("the first three positions:")
    print(show)
