import torch
import torch.nn as nn
import torch.nn.functional as F


class RopeAttention(nn.Module):
    """Inputs (B, H, T, hd); is_causal as in F.scaled_dot_product_attention."""

    def __init__(self, hd, is_causal=False, theta=10000.0):
        super().__init__()
        assert hd % 2 == 0, "even head size only"
        self.hd, self.is_causal, self.theta = hd, is_causal, theta

    def rope(self, t):
        T = t.size(-2)
        w = self.theta ** (-torch.arange(0, self.hd, 2, device=t.device, dtype=torch.float64) / self.hd)
        ang = torch.outer(torch.arange(T, device=t.device, dtype=torch.float64), w)
        c, s = ang.cos().to(t.dtype), ang.sin().to(t.dtype)
        x, y = t[..., 0::2], t[..., 1::2]
        return torch.stack((x * c - y * s, x * s + y * c), -1).reshape(t.shape)

    def forward(self, q, k, v):
        q, k, v = map(self.rope, (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
