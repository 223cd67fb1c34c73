from types import SimpleNamespace

import torch
from torch import nn

DEFAULTS = SimpleNamespace(vocab=96, width=48, heads=4, depth=2, context=32, tie_embeddings=True)


class Layer(nn.TransformerEncoderLayer):
    def __init__(self, hp):
        super().__init__(hp.width, hp.heads, 4 * hp.width, 0.0, "gelu", batch_first=True, norm_first=True)


class SmallGPT(nn.Module):
    def __init__(self, hp=DEFAULTS):
        super().__init__()
        self.tokens = nn.Embedding(hp.vocab, hp.width)
        self.places = nn.Parameter(0.02 * torch.randn(hp.context, hp.width))
        self.layers = nn.ModuleList([Layer(hp) for _ in range(hp.depth)])
        self.norm = nn.LayerNorm(hp.width)
        self.unembed = nn.Linear(hp.width, hp.vocab, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.02)
        if hp.tie_embeddings:
            with torch.no_grad():
                self.unembed.weight.copy_(self.tokens.weight)

    def forward(self, ids):
        T = ids.shape[1]
        later = torch.ones(T, T, dtype=torch.bool, device=ids.device).triu(1)
        x = self.tokens(ids) + self.places[:T]
        for layer in self.layers:
            x = layer(x, src_mask=later)
        return self.unembed(self.norm(x))
