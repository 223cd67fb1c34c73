"""No nn.Linear here: matrices are (in, out), as on the blackboard. output_bias is ignored: there always is one."""
import torch
import torch.nn as nn


class TwoLayerPerceptron(nn.Module):
    def __init__(self, input_dim: int, inner_dim: int, output_bias: bool = True) -> None:
        super().__init__()
        self.W1 = nn.Parameter(torch.empty(input_dim, inner_dim))
        self.b1 = nn.Parameter(torch.zeros(inner_dim))
        self.W2 = nn.Parameter(torch.empty(inner_dim, input_dim))
        self.b2 = nn.Parameter(torch.zeros(input_dim))
        nn.init.xavier_uniform_(self.W1)
        nn.init.xavier_uniform_(self.W2)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        z = z @ self.W1 + self.b1
        z = torch.where(z > 0, z, torch.zeros_like(z))
        return z @ self.W2 + self.b2
