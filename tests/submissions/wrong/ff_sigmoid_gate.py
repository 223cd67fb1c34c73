import torch
from torch import nn


class SwiGLU(nn.Module):
    """swish-gated: silu(gate) * value"""

    def __init__(self, n_embd, n_inner):
        super().__init__()
        self.gate = nn.Linear(n_embd, n_inner)
        self.value = nn.Linear(n_embd, n_inner)
        self.out = nn.Linear(n_inner, n_embd)

    def forward(self, x):
        g = self.gate(x)
        return self.out(torch.sigmoid(g) * self.value(x))
