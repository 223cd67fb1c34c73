from torch import nn


class PositionwiseMLP(nn.Module):
    """Linear, ReLU, Linear; no biases"""

    def __init__(self, width, hidden):
        super().__init__()
        self.lift = nn.Linear(width, hidden, bias=False)
        self.drop_back = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        h = self.lift(x).relu()
        return self.drop_back(h * h)
