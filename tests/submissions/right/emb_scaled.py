import math
import torch.nn as nn


class Embeddings(nn.Module):
    """Token vectors, multiplied by the root of the width as section 3.4 says."""

    def __init__(self, d_model, vocab):
        super().__init__()
        self.lut = nn.Embedding(vocab, d_model)
        self.d_model = d_model

    def forward(self, x):
        return self.lut(x) * math.sqrt(self.d_model)
