import torch
import torch.nn as nn


class FourierEncode(nn.Module):
    """Every coordinate is multiplied by all frequencies; then sin and cos of it."""

    def __init__(self, in_features, bands):
        super().__init__()
        self.in_features = in_features
        self.bands = [float(b) for b in bands]
        self.out_features = 2 * in_features * len(self.bands)

    def forward(self, coords):
        assert coords.shape[-1] == self.in_features
        b = torch.tensor(self.bands, dtype=torch.float64, device=coords.device)
        pieces = []
        for c in range(self.in_features):
            ang = coords[..., c, None].double() * b
            pieces += [ang.sin(), ang.cos()]
        return torch.cat(pieces, -1).to(coords.dtype)
