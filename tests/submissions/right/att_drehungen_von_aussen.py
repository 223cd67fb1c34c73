"""Selbstaufmerksamkeit; die Winkel hat das Modell schon ausgerechnet und gibt sie jeder Schicht mit."""

import torch
from torch import nn


def gedreht(v, cos, sin):
    vorn, hinten = v.chunk(2, dim=-1)
    return v * cos + torch.cat((-hinten, vorn), dim=-1) * sin


class Aufmerksamkeit(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.rein = nn.Linear(d_model, 3 * d_model)
        self.raus = nn.Linear(d_model, d_model)

    def forward(self, x, cos, sin, mask=None):
        """cos, sin: (tokens, head_dim); mask: True, wo hingesehen werden darf."""
        b, t, d = x.shape
        q, k, v = (y.reshape(b, t, self.n_heads, -1).transpose(1, 2) for y in self.rein(x).split(d, dim=-1))
        q, k = gedreht(q, cos[:t], sin[:t]), gedreht(k, cos[:t], sin[:t])
        werte = q @ k.mT / (d // self.n_heads) ** 0.5
        if mask is not None:
            werte = werte.masked_fill(~mask, float("-inf"))
        y = werte.softmax(dim=-1) @ v
        return self.raus(y.transpose(1, 2).reshape(b, t, d))
