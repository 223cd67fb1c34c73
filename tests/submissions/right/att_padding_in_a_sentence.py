"""Attention eines Decoders auf die Ausgabe des Encoders.

Die Maske folgt der Konvention von PyTorch: key_padding_mask ist True bei Füllung, und darf fehlen.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Querblick(nn.Module):
    def __init__(self, breite, koepfe):
        super().__init__()
        self.koepfe = koepfe
        self.q = nn.Linear(breite, breite)
        self.kv = nn.Linear(breite, 2 * breite)
        self.aus = nn.Linear(breite, breite)

    def geteilt(self, x):
        return x.unflatten(-1, (self.koepfe, -1)).transpose(1, 2)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, key_padding_mask: torch.Tensor | None = None):
        k, v = self.kv(memory).chunk(2, dim=-1)
        sichtbar = None if key_padding_mask is None else ~key_padding_mask[:, None, None, :]
        y = F.scaled_dot_product_attention(self.geteilt(self.q(x)), self.geteilt(k), self.geteilt(v), sichtbar)
        return self.aus(y.transpose(1, 2).flatten(2))
