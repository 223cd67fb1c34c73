import numpy as np
import torch


class GaussianFourierFeatures(torch.nn.Module):
    """gamma(v) = [cos(2 pi B v), sin(2 pi B v)], B is drawn once and is not trained"""

    def __init__(self, num_input_channels, mapping_size=256, scale=10):
        super().__init__()
        self.register_buffer('B', torch.randn(mapping_size, num_input_channels) * scale)

    def forward(self, v):
        up = v if v.dtype == torch.float64 else v.float()
        proj = 2 * np.pi * (up @ self.B.to(up.dtype).T)
        return torch.cat([torch.cos(proj), torch.sin(proj)], dim=-1).to(v.dtype)
