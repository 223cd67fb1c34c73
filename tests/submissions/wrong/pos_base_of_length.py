import math

import torch


class WavePositions(torch.nn.Module):
    """Adds sine and cosine waves to token vectors (batch, time, channels)."""

    def __init__(self, channels, max_len):
        super().__init__()
        steps = torch.arange(max_len, dtype=torch.float32)[:, None]
        rates = torch.exp(torch.arange(0, channels, 2).float() * -(math.log(max_len) / channels))
        waves = torch.zeros(max_len, channels)
        waves[:, 0::2] = torch.sin(steps * rates)
        waves[:, 1::2] = torch.cos(steps * rates)
        self.register_buffer("waves", waves[None], persistent=False)

    def forward(self, tokens):
        return tokens + self.waves[:, : tokens.size(1)]
