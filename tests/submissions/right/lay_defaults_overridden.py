# settings of the blocks; what is given overrides these, key by key
import torch
from torch import nn

STANDARD = {"width": 48, "heads": 3, "inner": 96, "depth": 2, "dropout": 0.0}


class Attention(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.heads = settings["heads"]
        self.p = settings["dropout"]
        self.qkv = nn.Linear(settings["width"], 3 * settings["width"])
        self.mix = nn.Linear(settings["width"], settings["width"])

    def forward(self, x, keep):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        p = self.p if self.training else 0.0
        y = nn.functional.scaled_dot_product_attention(q, k, v, keep[:, None, None, :], p)
        return self.mix(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, config=None):
        super().__init__()
        settings = {**STANDARD, **(config or {})}
        width = settings["width"]
        self.attention = Attention(settings)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.net = nn.Sequential(nn.Linear(width, settings["inner"]), nn.GELU(), nn.Linear(settings["inner"], width))
        self.drop = nn.Dropout(settings["dropout"])

    def forward(self, x, keep):
        x = self.norms[0](x + self.drop(self.attention(x, keep)))
        return self.norms[1](x + self.drop(self.net(x)))


class Encoder(nn.Module):
    def __init__(self, config=None):
        super().__init__()
        unknown = set(config or {}) - set(STANDARD)
        if unknown:
            raise KeyError(f"no such settings: {sorted(unknown)}")
        depth = dict(STANDARD, **(config or {}))["depth"]
        self.blocks = nn.ModuleList([Block(config) for _ in range(depth)])

    def forward(self, x, keep=None):
        """keep: (batch, length), True for real tokens"""
        if keep is None:
            keep = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for block in self.blocks:
            x = block(x, keep)
        return x
