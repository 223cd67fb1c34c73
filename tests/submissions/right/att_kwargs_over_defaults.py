"""Self-attention whose settings are a dict of defaults with keyword arguments laid over it."""

import torch
from torch import nn
from torch.nn import functional as F

defaults = {"channels": 48, "heads": 6, "drop": 0.0}


class KeywordMHA(nn.Module):
    def __init__(self, **overrides):
        super().__init__()
        self.opts = defaults | overrides
        width = self.opts["channels"]
        self.maps = nn.ModuleDict({name: nn.Linear(width, width) for name in ("query", "key", "value", "out")})

    def forward(self, x, keep=None):
        """keep (B, L): 1 is a token, 0 is filled up."""
        b, n, width = x.shape
        heads = self.opts["heads"]
        q, k, v = (self.maps[m](x).reshape(b, n, heads, width // heads) for m in ("query", "key", "value"))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) / (width // heads) ** 0.5
        if keep is not None:
            scores = scores.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
        weights = F.dropout(scores.softmax(-1), self.opts["drop"], self.training)
        return self.maps["out"](torch.einsum("bhij,bjhd->bihd", weights, v).reshape(b, n, width))
