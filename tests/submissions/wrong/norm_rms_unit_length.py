import torch
import torch.nn.functional as F
from torch import nn

class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(dim))
    def forward(self, x):
        if x.shape[-1] != self.gamma.shape[-1]:
            raise ValueError('dim')
        return (F.normalize(x.float() if x.dtype != torch.double else x, dim = -1) * self.gamma).to(x.dtype)
