from torch import nn


class MobileFFN(nn.Module):
    """Linear, ReLU, Linear"""

    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.fc1(x)
        h = h.clamp(min=0, max=6)
        return self.fc2(h)
