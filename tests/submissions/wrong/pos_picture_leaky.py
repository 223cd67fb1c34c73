import torch
import torch.nn.functional as F
from torch import nn


class NeuralField(nn.Module):
    def __init__(self, bands: int, widths: list[int], coords: int = 2, channels: int = 3) -> None:
        super().__init__()
        self.bands = bands
        dims = [2 * coords * bands, *widths, channels]
        self.layers = nn.ModuleList([nn.Linear(i, o) for i, o in zip(dims, dims[1:])])

    def features(self, x):
        f = torch.pow(2.0, torch.arange(self.bands, dtype=torch.float64, device=x.device))
        arg = torch.einsum("nd,k->ndk", x.double(), f)
        return torch.cat((arg.sin(), arg.cos()), 2).reshape(len(x), -1).to(x.dtype)

    def forward(self, x):
        h = self.features(x)
        for layer in self.layers[:-1]:
            h = F.leaky_relu(layer(h))
        return self.layers[-1](h)
