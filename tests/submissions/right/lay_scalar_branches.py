import torch
from torch import nn


class Step(nn.Module):
    """Each branch enters the stream through a gate of one learned number, which is 0 at first."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.alpha = nn.Parameter(torch.zeros(1))
        self.beta = nn.Parameter(torch.zeros(1))

    def look(self, x):
        b, t, w = x.shape
        q, k, v = (f(x).view(b, t, self.heads, w // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        probs = torch.softmax(q @ k.mT * (w // self.heads) ** -0.5, dim=-1)
        return self.o((probs @ v).transpose(1, 2).reshape(b, t, w))

    def forward(self, x):
        x = x + self.alpha * self.look(self.n1(x))
        return x + self.beta * self.narrow(torch.relu(self.wide(self.n2(x))))


class SlowStart(nn.Module):
    def __init__(self, width=64, heads=4, inner=256, depth=3):
        super().__init__()
        self.steps = nn.ModuleList([Step(width, heads, inner) for _ in range(depth)])
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return self.last(x)
