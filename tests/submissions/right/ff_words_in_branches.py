import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, dim, hidden, act="relu", bias=True):
        super().__init__()
        self.up, self.down = nn.Linear(dim, hidden, bias=bias), nn.Linear(hidden, dim, bias=bias)
        self.kind = act

    def forward(self, x):
        h = self.up(x)
        if self.kind == "relu":
            h = h.relu()
        elif self.kind == "gelu":
            h = h * 0.5 * (1 + torch.erf(h / math.sqrt(2)))
        elif self.kind == "relu2":
            h = h.relu() ** 2
        return self.down(h)
