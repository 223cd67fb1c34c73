import torch
import torch.nn as nn


class LayerNorm(nn.Module):

    def __init__(self, eps: float = 10**-6):
        super().__init__()
        self.eps = eps
        # learnable
        self.gain = nn.Parameter(torch.ones(1))
        self.offset = nn.Parameter(torch.zeros(1))

    def forward(self, hidden):
        # hidden: (batch, seq, features)
        mu = hidden.mean(dim=-1, keepdim=True)
        sd = hidden.std(dim=-1, keepdim=True)
        return self.gain * (hidden - mu) / (sd + self.eps) + self.offset
