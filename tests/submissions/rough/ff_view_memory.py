from torch import nn
import torch


class FlatFFN(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.width = width
        self.first = nn.Linear(width, inner)
        self.second = nn.Linear(inner, width)

    def forward(self, x):
        B, T, C = x.shape
        tokens = x.view(B * T, C)
        tokens = self.second(torch.relu(self.first(tokens)))
        return tokens.view(B, T, C)
