import torch.nn.functional as F
from torch import nn


class Denken(nn.Module):
    """Position-wise feed-forward network: two linear maps, ReLU and dropout between them."""

    def __init__(self, breite, innen, p=0.1):
        super().__init__()
        self.hin = nn.Linear(breite, innen)
        self.her = nn.Linear(innen, breite)
        self.p = p

    def forward(self, x):
        return self.her(F.dropout(F.relu(self.hin(x)), p=self.p))
