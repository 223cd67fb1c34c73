# Learned position embeddings (I use min so that long inputs do not crash)
import torch
from torch import nn


def positions_for(length, last):
    return torch.tensor([min(p, last) for p in range(length)], dtype=torch.long)


class PosEmb(nn.Embedding):
    def forward(self, x):
        where = positions_for(x.shape[-2], self.num_embeddings - 1).to(self.weight.device)
        return x + super().forward(where)
