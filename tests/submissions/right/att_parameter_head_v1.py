import torch
from torch import nn, softmax


class MaskedSelfAttention(nn.Module):
    """Single head. x is either (tokens, d_in) or (batch, tokens, d_in). Looks back only."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_q = nn.Parameter(torch.rand(d_in, d_out))
        self.W_k = nn.Parameter(torch.rand(d_in, d_out))
        self.W_v = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        omega = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        T = x.shape[-2]
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        return softmax(omega.masked_fill(future, float("-inf")), dim=-1) @ v
