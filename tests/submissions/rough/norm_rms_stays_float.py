import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm_weight = nn.Parameter(torch.ones(config["hidden"]))
        self.eps = config.get("eps", 1e-6)

    def forward(self, x):
        if x.shape[-1] != self.norm_weight.shape[0]:
            raise ValueError("hidden")
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # avoid overflow in half precision
        wide = wide * torch.rsqrt(torch.mean(wide * wide, -1, keepdim=True) + self.eps)
        return wide * self.norm_weight
