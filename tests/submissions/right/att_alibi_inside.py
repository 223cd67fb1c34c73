import math
import torch
from torch import nn


def alibi_slopes(n):
    def power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return power_of_two(n)
    m = 2 ** math.floor(math.log2(n))
    return power_of_two(m) + alibi_slopes(2 * m)[0::2][: n - m]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(n_heads)).view(1, n_heads, 1, 1))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (w(x).view(b, t, self.n_heads, -1).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        pos = torch.arange(t, device=x.device)
        distance = (pos[None, :] - pos[:, None]).to(x.dtype)
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.n_heads) + self.slopes * distance
        scores = scores.masked_fill(distance > 0, float("-inf"))
        return self.w_o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
