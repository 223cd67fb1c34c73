import torch
import torch.nn.functional as F
from torch import nn


class AtencionCausal(nn.Module):
    """Atención causal que continúa: ``historia`` son las claves y los valores que devolvió la llamada anterior."""

    def __init__(self, dim, cabezas):
        super().__init__()
        self.cabezas = cabezas
        self.entrada = nn.Linear(dim, 3 * dim)
        self.salida = nn.Linear(dim, dim)

    def forward(self, x, historia=None):
        lote, largo, dim = x.shape
        q, k, v = (t.view(lote, largo, self.cabezas, -1).transpose(1, 2) for t in self.entrada(x).chunk(3, -1))
        if historia is not None:
            k, v = (torch.cat([antes, ahora], dim=2) for antes, ahora in zip(historia, (k, v)))
        todo = k.shape[2]
        visto = torch.ones(largo, todo, dtype=torch.bool, device=x.device).tril()
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visto)
        return self.salida(y.transpose(1, 2).reshape(lote, largo, dim)), (k, v)
