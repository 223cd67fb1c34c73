import torch
from torch import nn


class QuickGELU(nn.Module):
    def forward(self, x):
        return 1.702 * x * torch.sigmoid(x)


class ImageTowerMLP(nn.Module):
    def __init__(self, width, mlp_width):
        super().__init__()
        self.c_fc = nn.Linear(width, mlp_width)
        self.act = QuickGELU()
        self.c_proj = nn.Linear(mlp_width, width)

    def forward(self, x):
        return self.c_proj(self.act(self.c_fc(x)))
