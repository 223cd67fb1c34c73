"""Rotary embeddings with complex numbers. Heads are on axis 2: (batch, seq, heads, head_dim)."""
from typing import Tuple
import torch


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0) -> torch.Tensor:
    rate = theta ** -(torch.arange(0, dim, 2).double() / dim)
    phase = torch.arange(end).double()[:, None] * rate[None, :]
    return torch.polar(torch.ones_like(phase), phase).to(torch.complex64)


def apply_rotary_emb(xq: torch.Tensor, xk: torch.Tensor, freqs_cis: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    def spin(x):
        wide = x if x.dtype == torch.float64 else x.float()
        z = torch.view_as_complex(wide.unflatten(-1, (-1, 2)).contiguous())
        z = z * freqs_cis[: x.size(1)].unsqueeze(1)
        return torch.view_as_real(z).flatten(-2).to(x.dtype)

    return spin(xq), spin(xk)
