"""OLMo 2 block, with QK-norm."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu


class Attention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_out = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.q_norm = nn.RMSNorm(d_model, eps=1e-6)
        self.k_norm = nn.RMSNorm(d_model, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, _ = x.shape
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        q, k, v = (t.view(B, T, self.n_heads, -1).transpose(1, 2) for t in (q, k, v))
        pos = torch.arange(T, dtype=x.dtype, device=x.device)
        half = q.size(-1) // 2
        theta = pos[:, None] / 10000 ** (torch.arange(half, dtype=x.dtype, device=x.device) / half)
        q, k = (self.rotate(t, theta.sin(), theta.cos()) for t in (q, k))
        att = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.w_out(att.transpose(1, 2).reshape(B, T, -1))

    @staticmethod
    def rotate(t, sin, cos):
        a, b = t.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class OlmoBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention = Attention(d_model, n_heads)
        self.attention_norm = nn.RMSNorm(d_model, eps=1e-6)
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.feed_forward_norm = nn.RMSNorm(d_model, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x + self.attention_norm(self.attention(x))
        return h + self.feed_forward_norm(self.w2(silu(self.w1(h)) * self.w3(h)))
