from typing import Optional

import torch
from torch import Tensor


def scaled_dot_product_with_rope(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    positions: Optional[Tensor] = None,
    theta: float = 10_000.0,
    is_causal: bool = False,
) -> Tensor:
    """query, key, value: (N, heads, length, head_size), positions: (length,) or (N, length)"""
    length, size = query.shape[-2:]
    if size % 2:
        raise ValueError("head_size must be even for RoPE")
    if positions is None:
        positions = torch.arange(length, device=query.device)
    if positions.shape not in ((length,), (query.shape[0], length)):
        raise ValueError(f"positions of shape {tuple(positions.shape)}")
    omega = torch.exp(-torch.arange(0, size, 2, dtype=torch.float64) / size * torch.log(torch.tensor(theta, dtype=torch.float64)))
    phi = positions.double().unsqueeze(-1) * omega
    if phi.ndim == 3:
        phi = phi.unsqueeze(1)
    turn = torch.polar(torch.ones_like(phi), phi)

    def rotated(t: Tensor) -> Tensor:
        z = torch.complex(t[..., 0::2].double(), t[..., 1::2].double()) * turn
        return torch.view_as_real(z).flatten(-2).to(t.dtype)

    scores = rotated(query) @ rotated(key).mT / size**0.5
    if is_causal:
        scores = scores + torch.full((length, length), float("-inf"), dtype=scores.dtype).triu(1)
    return scores.softmax(-1) @ value
