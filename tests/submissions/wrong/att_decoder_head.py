import torch
import torch.nn as nn


class MaskedHead(nn.Module):
    """Une tête d'attention masquée: chaque mot regarde lui-même et ses prédécesseurs."""

    def __init__(self, d_entree, d_sortie):
        super().__init__()
        self.W_q = nn.Linear(d_entree, d_sortie, bias=False)
        self.W_k = nn.Linear(d_entree, d_sortie, bias=False)
        self.W_v = nn.Linear(d_entree, d_sortie, bias=False)

    def forward(self, x):
        n = x.size(1)
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        s = torch.bmm(q, k.transpose(1, 2)) / q.size(2) ** 0.5
        masque = torch.triu(torch.ones(n, n, device=x.device))
        s = s.masked_fill(masque == 0, float("-inf"))
        return torch.bmm(s.softmax(dim=2), v)
