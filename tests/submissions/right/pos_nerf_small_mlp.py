"""A tiny radiance-field-like network for images (no view directions)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, n_octaves):
        super().__init__()
        self.n_octaves = n_octaves

    def forward(self, p):
        q = p.double()
        feats = [q]
        for k in range(self.n_octaves):
            feats.extend((torch.sin(2 ** k * torch.pi * q), torch.cos(2 ** k * torch.pi * q)))
        return torch.cat(feats, dim=-1).to(p.dtype)


class TinyNerf(nn.Module):
    def __init__(self, in_ch=2, out_ch=3, octaves=8, widths=(128, 128)):
        super().__init__()
        self.enc = Encoder(octaves)
        sizes = (in_ch * (1 + 2 * octaves),) + tuple(widths)
        self.hidden = nn.ModuleList(nn.Linear(m, n) for m, n in zip(sizes[:-1], sizes[1:]))
        self.head = nn.Linear(sizes[-1], out_ch)

    def forward(self, p):
        h = self.enc(p)
        for lin in self.hidden:
            h = F.relu(lin(h))
        return self.head(h)
