# hyperparameters (I keep them on top so that I can play with them)
BLOCK_SIZE = 32
N_EMBD = 24
BASE = 10_000.0

import torch
import torch.nn as nn


class SinTable(nn.Module):
    def __init__(self):
        super().__init__()
        t = torch.arange(BLOCK_SIZE, dtype=torch.float64)
        k = torch.arange(N_EMBD // 2, dtype=torch.float64)
        ang = torch.outer(t, BASE ** (-2 * k / N_EMBD))
        tab = torch.stack((ang.sin(), ang.cos()), -1).reshape(BLOCK_SIZE, N_EMBD)
        self.register_buffer("tab", tab.float())

    def forward(self):
        # (T, C): the caller cuts off what it needs
        return self.tab
