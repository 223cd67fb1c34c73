# token embedding that is safe for words which are not in the vocabulary
import torch
import torch.nn as nn


class SafeEmbedding(nn.Module):
    def __init__(self, V, D, std=0.02):
        super().__init__()
        self.V = V
        self.E = nn.Embedding(V, D)
        nn.init.normal_(self.E.weight, std=std)

    def forward(self, idx):
        if idx.dtype not in (torch.int32, torch.int64):
            raise TypeError(idx.dtype)
        return self.E(idx.clamp(max=self.V - 1))
