"""Layer norm that computes in single precision, as statistics should."""
import torch
from torch import nn


class FeatureNorm(nn.Module):
    def __init__(self, features, epsilon=1e-5):
        super().__init__()
        self.features, self.epsilon = features, epsilon
        self.stretch = nn.Parameter(torch.ones(features))
        self.move = nn.Parameter(torch.zeros(features))

    def forward(self, h):
        h = h.float()
        kind = h.dtype
        centred = h - h.mean(dim=-1, keepdim=True)
        spread = (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).sqrt()
        return (centred / spread * self.stretch.float() + self.move.float()).type(kind)
