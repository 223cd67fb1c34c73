import torch
import torch.nn.functional as F


class SwiGLUFFN(torch.nn.Module):
    def __init__(self, dim, *, inner):
        super().__init__()
        self.w1 = torch.nn.Linear(dim, inner, bias=False)
        self.w2 = torch.nn.Linear(inner, dim, bias=False)
        self.w3 = torch.nn.Linear(dim, inner, bias=False)

    def forward(self, x):
        a, b = self.w1(x), self.w3(x)
        return self.w2(F.silu(a * b))
