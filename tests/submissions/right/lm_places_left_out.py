import torch
from torch import nn


class Laag(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.voor, self.tussen = nn.LayerNorm(d), nn.LayerNorm(d)
        self.alles, self.uit = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.net = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, eerder):
        b, n, d = x.shape
        q, k, v = self.alles(self.voor(x)).view(b, n, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        if eerder is not None:
            k, v = torch.cat([eerder[0], k], 2), torch.cat([eerder[1], v], 2)
        s = q @ k.transpose(-1, -2) * (d // self.h) ** -0.5
        later = torch.ones(n, k.size(2), dtype=torch.bool, device=x.device).triu(1 + k.size(2) - n)
        y = s.masked_fill(later, float("-inf")).softmax(-1) @ v
        x = x + self.uit(y.transpose(1, 2).flatten(2))
        return x + self.net(self.tussen(x)), (k, v)


class TaalModel(nn.Module):
    """Voorspelt het volgende token. Geeft de logits en wat een volgende aanroep als `past` krijgt, met alleen de
    nieuwe tokens; `position_ids` is voor wie links opvult."""

    def __init__(self, n_vocab, n_ctx, d_model, n_heads, n_layers):
        super().__init__()
        self.tokens = nn.Embedding(n_vocab, d_model)
        self.plaatsen = nn.Embedding(n_ctx, d_model)
        self.lagen = nn.ModuleList(Laag(d_model, n_heads) for _ in range(n_layers))
        self.eind = nn.LayerNorm(d_model)

    def forward(self, ids, past=None, position_ids=None):
        geweest = 0 if past is None else past[0][0].size(2)
        if position_ids is None:
            position_ids = torch.arange(geweest, geweest + ids.size(1), device=ids.device)
        x = self.tokens(ids) + self.plaatsen(position_ids)
        verder = []
        for i, laag in enumerate(self.lagen):
            x, paar = laag(x, past[i] if past is not None else None)
            verder.append(paar)
        return self.eind(x) @ self.tokens.weight.T, verder
