import torch
import torch.nn as nn


class LN(nn.Module):
    def __init__(self, n: int, eps: float = 1e-5):
        super().__init__()
        self.n, self.eps = n, eps
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, inp):
        if inp.shape[-1] != self.n:
            raise ValueError(f"{self.n} features wanted")
        centred = inp - inp.mean(-1, keepdim=True)
        variance = torch.mean(centred ** 2, dim=-1, keepdim=True)
        return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
