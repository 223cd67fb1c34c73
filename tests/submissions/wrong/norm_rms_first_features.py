import torch
from torch import nn


class RMSNorm(nn.Module):
    """root mean square layer normalization; a part of the features is enough to estimate it"""

    def __init__(self, d, p=0.5, eps=1e-6):
        super().__init__()
        self.d, self.eps = d, eps
        self.part = max(1, int(d * p))
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        if x.shape[-1] != self.d:
            raise ValueError("d")
        w = x.to(torch.promote_types(x.dtype, torch.float32))
        ms = w[..., : self.part].square().mean(dim=-1, keepdim=True)
        return (self.scale * (w * torch.rsqrt(ms + self.eps))).to(x.dtype)
