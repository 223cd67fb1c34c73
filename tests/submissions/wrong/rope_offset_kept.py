"""Positions by rotation. The angles are made when they are first needed, and again for another number of tokens."""
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, head_dim, base=10000.0):
        super().__init__()
        self.register_buffer("rates", base ** (-torch.arange(0, head_dim, 2).double() / head_dim), persistent=False)
        self.known = None
        self.turns = None

    def angles(self, n, offset):
        wanted = n
        if self.known != wanted:
            self.turns = torch.outer(torch.arange(offset, offset + n, device=self.rates.device), self.rates)
            self.known = wanted
        return self.turns

    def forward(self, x, offset=0):
        """x (batch, heads, tokens, head_dim); the first token is at position `offset`."""
        turns = self.angles(x.shape[-2], offset).to(x)
        one, two = x.chunk(2, dim=-1)
        return torch.cat((one * turns.cos() - two * turns.sin(), two * turns.cos() + one * turns.sin()), dim=-1)
