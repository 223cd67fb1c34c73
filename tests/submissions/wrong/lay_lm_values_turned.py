import math

import torch
from torch import Tensor, nn


class Table(nn.Module):
    """One row for each token."""

    def __init__(self, tokens: int, features: int):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(tokens, features) / math.sqrt(features))

    def forward(self, ids: Tensor) -> Tensor:
        return self.rows[ids]


class Matrix(nn.Module):
    def __init__(self, d_in: int, d_out: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_out, d_in) / math.sqrt(d_in))

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("oi,...i->...o", self.weight, x)


class Norm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: Tensor) -> Tensor:
        return x / torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + self.eps) * self.gain


class Rope(nn.Module):
    """Turns neighbouring features, as complex numbers, by angles that grow with the place of a token."""

    def __init__(self, theta: float, d_k: int, longest: int):
        super().__init__()
        speed = 1.0 / theta ** (torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
        angle = torch.arange(longest, dtype=torch.float64)[:, None] * speed
        self.register_buffer("turn_re", torch.cos(angle), persistent=False)
        self.register_buffer("turn_im", torch.sin(angle), persistent=False)

    def forward(self, x: Tensor, places: Tensor) -> Tensor:
        re, im = self.turn_re[places].to(x.dtype), self.turn_im[places].to(x.dtype)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * re - b * im, a * im + b * re], dim=-1).flatten(-2)


class CausalAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, theta: float, longest: int):
        super().__init__()
        self.h = num_heads
        self.q, self.k, self.v, self.o = (Matrix(d_model, d_model) for _ in range(4))
        self.rope = Rope(theta, d_model // num_heads, longest)

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        q, k, v = (m(x).reshape(b, t, self.h, -1).permute(0, 2, 1, 3) for m in (self.q, self.k, self.v))
        places = torch.arange(t, device=x.device)
        q, k, v = self.rope(q, places), self.rope(k, places), self.rope(v, places)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        later = torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), diagonal=1)
        mixed = scores.masked_fill(later, -math.inf).softmax(-1) @ v
        return self.o(mixed.permute(0, 2, 1, 3).reshape(b, t, -1))


class Gated(nn.Module):
    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.w1, self.w2, self.w3 = Matrix(d_model, d_ff), Matrix(d_ff, d_model), Matrix(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        h = self.w1(x)
        return self.w2(h * torch.sigmoid(h) * self.w3(x))


class Block(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, theta: float, longest: int):
        super().__init__()
        self.ln1, self.ln2 = Norm(d_model), Norm(d_model)
        self.attn, self.ffn = CausalAttention(d_model, num_heads, theta, longest), Gated(d_model, d_ff)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class TransformerLM(nn.Module):
    def __init__(
        self, vocab_size: int, context_length: int, num_layers: int, d_model: int, num_heads: int, d_ff: int,
        rope_theta: float,
    ):
        super().__init__()
        self.tokens = Table(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, d_ff, rope_theta, context_length) for _ in range(num_layers)
        )
        self.last, self.head = Norm(d_model), Matrix(d_model, vocab_size)

    def forward(self, token_ids: Tensor) -> Tensor:
        x = self.tokens(token_ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))
