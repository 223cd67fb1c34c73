import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden, dropout, skipped):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim))
        self.before_attn, self.before_mlp = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.skipped, self.drop = skipped, nn.Dropout(dropout)

    def rest(self, y):
        """Leave out what is added to some of the samples, in training."""
        if not self.training or self.skipped == 0:
            return self.drop(y)
        kept = torch.rand(len(y), 1, 1, device=y.device) >= self.skipped
        return self.drop(y) * kept / (1 - self.skipped)

    def forward(self, x):
        y = self.before_attn(x)
        x = x + self.rest(self.attn(y, y, y, need_weights=False)[0])
        return x + self.rest(self.mlp(self.before_mlp(x)))


class VisionEncoder(nn.Module):
    """Later layers are skipped more often (stochastic depth)."""

    def __init__(self, dim, depth, heads, hidden, dropout=0.0, drop_path_rate=0.2):
        super().__init__()
        rates = torch.linspace(0, drop_path_rate, depth).tolist()
        self.layers = nn.ModuleList(Layer(dim, heads, hidden, dropout, rate) for rate in rates)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)
