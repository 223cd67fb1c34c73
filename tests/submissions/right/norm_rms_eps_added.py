import torch
from torch import nn, Tensor


class RootMeanSquareNorm(nn.Module):
    def __init__(self, d: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.g = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[-1] == self.g.shape[0]
        wide = x if x.dtype == torch.float64 else x.float()
        rms = torch.linalg.vector_norm(wide, dim=-1, keepdim=True) / self.g.shape[0] ** 0.5
        return (wide / (rms + self.eps) * self.g).to(x.dtype)
