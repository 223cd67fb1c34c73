from torch import nn, ones, zeros
import torch


class SampleNorm(nn.Module):
    """LayerNorm: normalise everything but the batch"""

    def __init__(self, hidden, epsilon=1e-5):
        super().__init__()
        self.g = nn.Parameter(ones(hidden))
        self.b = nn.Parameter(zeros(hidden))
        self.epsilon = epsilon

    def forward(self, x):
        if x.size(-1) != self.g.numel():
            raise ValueError
        xf = x.to(torch.promote_types(x.dtype, torch.float32))
        axes = tuple(range(1, x.dim())) if x.dim() > 1 else (0,)
        m = xf.mean(axes, keepdim=True)
        v = xf.var(axes, unbiased=False, keepdim=True)
        return ((xf - m) / torch.sqrt(v + self.epsilon) * self.g + self.b).to(x.dtype)
