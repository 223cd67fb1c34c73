import torch
import torch.nn as nn


class GentleMask(nn.Module):
    """first softmax, then mask, then divide by the sum again, so the rows are fine"""

    def forward(self, q, k, v, mask):
        # mask (L, S): 1 keep, 0 drop
        p = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(dim=-1)
        p = p * mask.to(p.dtype)
        p = p / p.sum(dim=-1, keepdim=True)
        return p @ v, p
