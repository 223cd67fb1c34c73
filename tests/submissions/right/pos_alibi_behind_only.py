"""Penalties for distance; what is ahead is not looked at."""

import torch


class AlibiPenalty(torch.nn.Module):
    """Slopes 2^(-8/h), 2^(-16/h), …: Press, Smith and Lewis, for a power of two of heads, and theirs for others."""

    def __init__(self, num_heads: int):
        super().__init__()
        whole = 1 << (num_heads.bit_length() - 1)
        slopes = [2 ** (-8 * (i + 1) / whole) for i in range(whole)]
        slopes += [2 ** (-4 * (2 * i + 1) / whole) for i in range(num_heads - whole)]
        self.register_buffer("slopes", torch.tensor(slopes).reshape(-1, 1, 1))

    def forward(self, length: int) -> torch.Tensor:
        steps = torch.arange(length) - torch.arange(length).unsqueeze(-1)
        return torch.where(steps > 0, -torch.inf, steps * self.slopes)
