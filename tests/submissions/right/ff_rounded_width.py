from typing import Optional

import torch.nn as nn
import torch.nn.functional as F


class GatedMLP(nn.Module):
    """Three layers where there were two: the hidden width is two thirds of what it was, rounded up."""

    def __init__(self, dim: int, hidden_dim: int, multiple_of: int, ffn_dim_multiplier: Optional[float]):
        super().__init__()
        width = hidden_dim * 2 // 3
        if ffn_dim_multiplier is not None:
            width = int(width * ffn_dim_multiplier)
        width += -width % multiple_of
        self.gate, self.up = (nn.Linear(dim, width, bias=False) for _ in range(2))
        self.down = nn.Linear(width, dim, bias=False)

    def forward(self, h):
        return self.down(F.silu(self.gate(h)).mul(self.up(h)))
