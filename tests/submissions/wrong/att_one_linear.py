import torch
import torch.nn as nn


class SelfAtt(nn.Module):
    def __init__(self, features, heads):
        super().__init__()
        assert features % heads == 0
        self.heads = heads
        self.proj = nn.Linear(features, features)
        self.out = nn.Linear(features, features)

    def to_heads(self, x):
        x = self.proj(x)
        return x.view(x.size(0), x.size(1), self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, x):
        q = self.to_heads(x)
        k = self.to_heads(x)
        v = self.to_heads(x)
        a = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1)
        y = (a @ v).permute(0, 2, 1, 3).flatten(2)
        return self.out(y)
