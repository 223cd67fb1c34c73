import torch
from torch import nn


def ffn(w, f):
    return nn.Sequential(nn.Linear(w, f), nn.GELU(), nn.Linear(f, w))


class QFormerLayer(nn.Module):
    """queries: (B, Q, w) read from features: (B, S, w); queries are causal because they are generated one by one"""

    def __init__(self, w, h, f):
        super().__init__()
        self.causal = nn.MultiheadAttention(w, h, batch_first=True)
        self.reading = nn.MultiheadAttention(w, h, batch_first=True)
        self.ffn = ffn(w, f)
        self.ln_causal, self.ln_reading, self.ln_ffn = nn.LayerNorm(w), nn.LayerNorm(w), nn.LayerNorm(w)

    def forward(self, queries, features):
        n = queries.size(1)
        later = torch.triu(torch.ones(n, n, dtype=torch.bool, device=queries.device), 1)
        y = self.ln_causal(queries)
        queries = queries + self.causal(y, y, y, attn_mask=later, need_weights=False)[0]
        y, z = self.ln_reading(queries), self.ln_reading(features)
        queries = queries + self.reading(y, z, z, need_weights=False)[0]
        return queries + self.ffn(self.ln_ffn(queries))
