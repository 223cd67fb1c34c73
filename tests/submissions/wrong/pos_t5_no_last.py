import numpy as np
import torch
import torch.nn as nn


class T5RelativeBias(nn.Module):
    """(heads, i, j); index computed with numpy"""

    def __init__(self, num_heads, num_buckets, max_distance, causal=False):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(num_buckets, num_heads))
        self.nb, self.md, self.causal = num_buckets, max_distance, causal

    def index(self, i, j):
        r = np.arange(j)[None, :] - np.arange(i)[:, None]
        if self.causal:
            base, nb, dist = 0, self.nb, np.maximum(-r, 0)
        else:
            nb = self.nb // 2
            base, dist = np.where(r > 0, nb, 0), np.abs(r)
        near = nb // 2
        far = near + np.floor(np.log(np.maximum(dist, 1) / near) / np.log(self.md / near) * (nb - near))
        far = np.minimum(far, self.nb - 1)
        return np.minimum(base + np.where(dist < near, dist, far), self.nb - 1).astype(np.int64)

    def forward(self, i, j):
        return self.weight[torch.from_numpy(self.index(i, j))].movedim(-1, 0)
