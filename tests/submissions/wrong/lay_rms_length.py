"""minLM: RMSNorm -> attention -> RMSNorm -> MLP, everything without bias"""
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as sdpa


class RMS(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.g = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + 1e-6) * self.g


class MinBlock(nn.Module):
    def __init__(self, n, heads):
        super().__init__()
        self.heads = heads
        self.r1, self.r2 = RMS(n), RMS(n)
        self.w_qkv = nn.Linear(n, 3 * n, bias=False)
        self.w_o = nn.Linear(n, n, bias=False)
        self.w_up = nn.Linear(n, 4 * n, bias=False)
        self.w_down = nn.Linear(4 * n, n, bias=False)

    def forward(self, x):
        B, T, n = x.shape
        q, k, v = self.w_qkv(self.r1(x)).view(B, T, 3, self.heads, -1).unbind(2)
        y = sdpa(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        x = x + self.w_o(y.transpose(1, 2).reshape(B, T, n))
        return x + self.w_down(self.w_up(self.r2(x)).relu())
