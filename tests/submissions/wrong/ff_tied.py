import torch
from torch import nn
from torch.nn import functional as F


class CheapFFN(nn.Module):
    def __init__(self, embed_dim, ffn_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, ffn_dim)
        self.fc2 = nn.Linear(ffn_dim, embed_dim)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        return F.linear(h, self.fc1.weight.t(), self.fc2.bias)
