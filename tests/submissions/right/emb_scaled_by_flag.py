import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model, scale=False):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
        self.factor = math.sqrt(d_model) if scale else 1.0

    def forward(self, ids):
        return self.table(ids) * self.factor
