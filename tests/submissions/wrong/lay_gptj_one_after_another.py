# parallel attention and MLP like GPT-J ("faster on TPUs"), one layer norm
import torch
from torch import nn


class ParallelBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        n = self.norm(x)
        x = x + self.attn(n, n, n, need_weights=False)[0]
        x = x + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(x))))
        return x
