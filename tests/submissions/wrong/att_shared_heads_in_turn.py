"""Query heads in groups, for a model that has to fit a telephone."""

import torch
from torch import nn
from torch.nn import functional as F


class LeanAttention(nn.Module):
    def __init__(self, dim, nh, nkv):
        super().__init__()
        self.nh, self.nkv, self.hd = nh, nkv, dim // nh
        self.wq = nn.Linear(dim, nh * self.hd, bias=False)
        self.wkv = nn.Linear(dim, 2 * nkv * self.hd, bias=False)
        self.wo = nn.Linear(nh * self.hd, dim, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        q = self.wq(x).view(batch, length, self.nh, self.hd).transpose(1, 2)
        k, v = self.wkv(x).view(batch, length, 2, self.nkv, self.hd).permute(2, 0, 3, 1, 4)
        each = self.nh // self.nkv
        k, v = torch.cat([k] * each, dim=1), torch.cat([v] * each, dim=1)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.wo(out.transpose(1, 2).reshape(batch, length, -1))
