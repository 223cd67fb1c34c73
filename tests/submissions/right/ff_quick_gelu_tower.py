# image tower of a text-image model: widths and activation of the released weights
from torch import nn


class QuickGELU(nn.Module):
    """gelu, near enough: a logistic curve in the place of the normal one"""

    steepness = 1.702

    def forward(self, z):
        return z * (self.steepness * z).sigmoid()


class TowerMLP(nn.Module):
    def __init__(self, width, mlp_width, dropout=0.0):
        super().__init__()
        self.fc1 = nn.Linear(width, mlp_width)
        self.act_fn = QuickGELU()
        self.drop = nn.Dropout(dropout)
        self.fc2 = nn.Linear(mlp_width, width)

    def forward(self, hidden_states):
        hidden_states = self.drop(self.act_fn(self.fc1(hidden_states)))
        return self.fc2(hidden_states)
