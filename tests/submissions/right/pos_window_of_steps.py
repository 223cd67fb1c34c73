"""Position signal for windows of a load curve."""
import math

import torch
from torch import Tensor, nn


class StepEncoding(nn.Module):
    """Adds the code of the time step to windows of shape (batch, steps, channels)."""

    def __init__(self, channels: int, horizon: int = 2048, dropout: float = 0.05):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        step = torch.arange(horizon).unsqueeze(1)
        omega = torch.exp(torch.arange(0, channels, 2) * (-math.log(10000.0) / channels))
        pe = torch.zeros(horizon, channels)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(step * omega), torch.cos(step * omega)
        self.register_buffer("pe", pe)

    def forward(self, window: Tensor) -> Tensor:
        return self.drop(window + self.pe[: window.size(1)])
