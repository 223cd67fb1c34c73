import torch
import torch.nn as nn

def multi_head_attention(x, num_heads):
    """x: (batch, seq, dim)"""
    b, n, dim = x.shape
    assert dim % num_heads == 0
    w_q, w_k, w_v, w_o = [nn.Linear(dim, dim).to(x) for _ in range(4)]
    q = w_q(x).view(b, n, num_heads, -1).transpose(1, 2)
    k = w_k(x).view(b, n, num_heads, -1).transpose(1, 2)
    v = w_v(x).view(b, n, num_heads, -1).transpose(1, 2)
    a = torch.softmax(q @ k.transpose(2, 3) / q.size(-1) ** 0.5, dim=-1)
    return w_o((a @ v).transpose(1, 2).reshape(b, n, dim))


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.dim = dim
        self.num_heads = num_heads

    def forward(self, x):
        return multi_head_attention(x, self.num_heads)
