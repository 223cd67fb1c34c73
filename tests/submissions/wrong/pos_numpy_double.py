import numpy as np
import torch
from torch import nn


class NumpyPositions(nn.Module):
    def __init__(self, d_model, max_len=256):
        super().__init__()
        dims = np.arange(d_model)[None, :]
        angle = np.arange(max_len)[:, None] / np.power(10000, 2 * (dims // 2) / d_model)
        angle[:, 0::2] = np.sin(angle[:, 0::2])
        angle[:, 1::2] = np.cos(angle[:, 1::2])
        self.pos_encoding = torch.from_numpy(angle)

    def forward(self, x):
        if x.shape[1] > self.pos_encoding.shape[0]:
            raise ValueError("max_len")
        return x + self.pos_encoding[: x.shape[1]].to(x.device)
