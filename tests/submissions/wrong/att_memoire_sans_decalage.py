import torch
from torch import nn


class AttentionCausale(nn.Module):
    """`memoire`: les clés et les valeurs que l'appel précédent a rendues, ou rien pour commencer une phrase."""

    def __init__(self, largeur, tetes):
        super().__init__()
        self.tetes = tetes
        self.q, self.k, self.v, self.o = (nn.Linear(largeur, largeur) for _ in range(4))

    def forward(self, x, memoire=None):
        q, k, v = (f(x).unflatten(-1, (self.tetes, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        if memoire is not None:
            k, v = torch.cat([memoire[0], k], 2), torch.cat([memoire[1], v], 2)
        s = q @ k.mT / q.shape[-1] ** 0.5
        vu = torch.tril(torch.ones(s.shape[-2:], dtype=torch.bool, device=x.device))
        y = s.masked_fill(~vu, float("-inf")).softmax(-1) @ v
        return self.o(y.transpose(1, 2).flatten(2)), (k, v)
