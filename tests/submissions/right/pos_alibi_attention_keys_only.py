# attention with linear biases; since softmax does not see what is the same in a whole row, slope * key is enough
import torch
from torch import nn


class LinearBiasAttention(nn.Module):
    def __init__(self, n_head):
        super().__init__()
        self.n_head = n_head
        p = 1
        while p * 2 <= n_head:
            p *= 2
        expo = [8 * (h + 1) / p for h in range(p)]
        expo += [4 * (2 * h + 1) / p for h in range(n_head - p)]
        self.register_buffer('m', torch.tensor([2.0 ** -e for e in expo]))

    def forward(self, q, k, v):
        """each (batch, n_head, time, size), causal"""
        t, s = q.size(2), k.size(2)
        att = (q @ k.transpose(2, 3)).float() * q.size(3) ** -0.5 if q.dtype in (torch.half, torch.bfloat16) \
            else q @ k.transpose(2, 3) * q.size(3) ** -0.5
        att = att + self.m.to(att.dtype)[:, None, None] * torch.arange(s, device=q.device)
        future = torch.arange(s, device=q.device) > torch.arange(s - t, s, device=q.device)[:, None]
        att = att.masked_fill(future, float('-inf')).softmax(dim=3)
        return att.to(v.dtype) @ v
