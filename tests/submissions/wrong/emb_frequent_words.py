# zelfgemaakte embedding
import torch
from torch import nn


class WoordVectoren(nn.Embedding):
    def __init__(self, aantal, breedte):
        super().__init__(num_embeddings=aantal, embedding_dim=breedte, scale_grad_by_freq=True)

    def forward(self, woorden):
        return super().forward(woorden)
