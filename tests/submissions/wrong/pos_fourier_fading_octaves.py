import torch
from torch import nn


class FourierFeatures(nn.Module):
    def __init__(self, n_frequencies):
        super().__init__()
        self.n_frequencies = n_frequencies

    def forward(self, x):
        bands = 2.0 ** torch.arange(self.n_frequencies, dtype=x.dtype, device=x.device)
        angles = x[..., None, :] * bands[:, None]
        waves = torch.stack([torch.sin(angles), torch.cos(angles)], dim=-3)
        waves = waves / bands[:, None]  # finer waves count less
        return waves.flatten(-3)
