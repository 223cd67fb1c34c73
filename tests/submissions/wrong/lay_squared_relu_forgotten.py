"""One decoder block in the manner of Nemotron, without biases."""

import torch
from torch import nn
from torch.nn import functional as F


class SquaredBlock(nn.Module):
    """Norms come first; the network is down(relu(up(x))^2), a squared ReLU without a gate."""

    def __init__(self, width: int, n_head: int, inner: int):
        super().__init__()
        self.n_head = n_head
        self.before_attention = nn.LayerNorm(width)
        self.before_network = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def mix(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_head, c // self.n_head).permute(2, 0, 3, 1, 4)
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.mix(self.before_attention(x))
        return x + self.down(F.relu(self.up(self.before_network(x))))
