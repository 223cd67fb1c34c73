import torch
from torch import nn


class NeRF(nn.Module):
    """Density and colour from encoded points and directions."""

    def __init__(self, depth=8, width=256, in_dim=3, out_dim=4, skips=(4,), n_freqs=10):
        super().__init__()
        self.skips = skips
        self.n_freqs = n_freqs
        enc = in_dim * (1 + 2 * n_freqs)
        self.layers = nn.ModuleList(
            [nn.Linear(enc, width)] + [nn.Linear(width + enc if i in skips else width, width) for i in range(depth - 1)]
        )
        self.out = nn.Linear(width, out_dim)

    def encode(self, x):
        parts = [x]
        for i in range(self.n_freqs):
            parts += [torch.sin(2.0**i * x), torch.cos(2.0**i * x)]
        return torch.cat(parts, dim=-1)

    def forward(self, x):
        e = self.encode(x)
        h = e
        for i, layer in enumerate(self.layers):
            h = torch.relu(layer(h))
            if i in self.skips:
                h = torch.cat([e, h], dim=-1)
        return self.out(h)
