import torch
from einops import rearrange
from torch import nn


class AddTimeSignal(nn.Module):
    def __init__(self, *, channels: int, max_time: int):
        super().__init__()
        assert channels % 2 == 0
        time = rearrange(torch.arange(max_time, dtype=torch.float), "t -> t 1")
        scale = 1e4 ** (-torch.arange(0, channels, 2) / channels)
        self.register_buffer("signal", rearrange([torch.sin(time * scale), torch.cos(time * scale)], "f t c -> t (c f)"))

    def forward(self, x):
        b, t, c = x.shape
        if t > self.signal.shape[0]:
            raise ValueError(f"{t} > {self.signal.shape[0]}")
        x += self.signal[:t]
        return x
