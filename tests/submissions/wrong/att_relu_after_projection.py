import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, in_features, heads=4):
        super().__init__()
        assert in_features % heads == 0
        self.heads = heads
        self.q = nn.Sequential(nn.Linear(in_features, in_features), nn.ReLU())
        self.k = nn.Sequential(nn.Linear(in_features, in_features), nn.ReLU())
        self.v = nn.Sequential(nn.Linear(in_features, in_features), nn.ReLU())
        self.out = nn.Linear(in_features, in_features)

    def forward(self, x):
        N, L, D = x.shape
        q, k, v = (f(x).view(N, L, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        att = torch.softmax(q @ k.transpose(2, 3) / (D // self.heads) ** 0.5, dim=3)
        return self.out((att @ v).transpose(1, 2).reshape(N, L, D))
