import torch
from torch import nn


class LayerNorm1P(nn.Module):
    """What is stored is the gain less one, so that weight decay pulls the gain to one."""

    def __init__(self, width: int, epsilon: float = 1e-5):
        super().__init__()
        self.offset = nn.Parameter(torch.zeros(width))
        self.shift = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        if h.shape[-1:] != self.offset.shape:
            raise ValueError(f"{h.shape[-1]} features, {len(self.offset)} expected")
        wide = h.to(torch.promote_types(h.dtype, torch.float32))
        deviation = wide - wide.mean(-1, keepdim=True)
        unit = deviation / (deviation.square().mean(-1, keepdim=True) + self.epsilon).sqrt()
        return (unit + unit * self.offset + self.shift).to(h.dtype)
