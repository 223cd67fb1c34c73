"""RMSNorm, read off the code that came with the paper (Zhang and Sennrich, 2019).

pRMSNorm, which looks at the first p of the features only, is not done here: p has to be 1.
"""

import torch
import torch.nn as nn


class RMSNorm(nn.Module):
    def __init__(self, d, p=1.0, eps=1e-8):
        super().__init__()
        if p < 1:
            raise NotImplementedError("partial RMSNorm")
        self.d = d
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(d))

    def forward(self, x):
        length = x.norm(2, dim=-1, keepdim=True)
        rms = length / self.d**0.5
        return self.scale * (x / (rms + self.eps))
