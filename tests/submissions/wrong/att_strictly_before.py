import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_in, d_out, block_size):
        super().__init__()
        self.d_out = d_out
        self.Wq = nn.Linear(d_in, d_out, bias=False)
        self.Wk = nn.Linear(d_in, d_out, bias=False)
        self.Wv = nn.Linear(d_in, d_out, bias=False)
        self.register_buffer("visible", torch.tril(torch.ones(block_size, block_size), diagonal=-1))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        att = q @ k.transpose(1, 2) / self.d_out ** 0.5
        att = att.masked_fill(self.visible[:t, :t] == 0, -1e9)
        return torch.softmax(att, dim=-1) @ v
