import torch
from torch import nn


class Opmerksomhed(nn.Module):
    """Flere hoveder. Med `cross_attention=True` kommer nøgler og værdier fra `memory`, ellers fra `x` selv."""

    def __init__(self, bredde, hoveder, cross_attention=False):
        super().__init__()
        self.hoveder, self.cross_attention = hoveder, cross_attention
        self.q, self.k = nn.Linear(bredde, bredde), nn.Linear(bredde, bredde)
        self.v, self.ud = nn.Linear(bredde, bredde), nn.Linear(bredde, bredde)

    def forward(self, x, memory=None):
        fra = x
        q, k, v = (f(t).unflatten(-1, (self.hoveder, -1)).transpose(1, 2)
                   for f, t in ((self.q, x), (self.k, fra), (self.v, fra)))
        vaegte = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1)
        return self.ud((vaegte @ v).transpose(1, 2).flatten(2))
