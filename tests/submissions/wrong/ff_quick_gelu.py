import torch
from torch import nn


class GELU(nn.Module):
    """gaussian error linear unit"""

    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class TransformerMLP(nn.Module):
    def __init__(self, cfg: dict):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(cfg["emb_dim"], cfg["hidden_dim"]),
            GELU(),
            nn.Linear(cfg["hidden_dim"], cfg["emb_dim"]),
        )

    def forward(self, x):
        return self.layers(x)
