import torch
import torch.nn as nn
import torch.nn.functional as F


class NormedPositions(nn.Module):
    def __init__(self, n_pos, n_feat):
        super().__init__()
        self.emb = nn.Embedding(n_pos, n_feat)

    def forward(self, n):
        """n: how many -> (n, n_feat)"""
        vectors = self.emb(torch.arange(n, device=self.emb.weight.device))
        return F.normalize(vectors, dim=-1)
