import torch
import torch.nn as nn


class MaskedLayerNorm(nn.Module):
    """layer norm that does not let padded (zero) features spoil the statistics"""

    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.g = nn.Parameter(torch.ones(dim))
        self.b = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        if x.shape[-1] != self.dim:
            raise ValueError("dim")
        w = x.to(torch.promote_types(x.dtype, torch.float32))
        used = (w != 0).to(w.dtype)
        n = used.sum(-1, keepdim=True).clamp(min=1)
        mean = w.sum(-1, keepdim=True) / n
        centred = (w - mean) * used
        var = (centred ** 2).sum(-1, keepdim=True) / n
        return (centred / torch.sqrt(var + self.eps) * self.g + self.b).to(x.dtype)
