import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.w_q = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim ** -0.5)
        self.w_k = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim ** -0.5)
        self.w_v = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim ** -0.5)
        self.w_o = nn.Parameter(torch.randn(embed_dim, embed_dim) * embed_dim ** -0.5)
        self.b_q = nn.Parameter(torch.zeros(embed_dim))
        self.b_k = nn.Parameter(torch.zeros(embed_dim))
        self.b_v = nn.Parameter(torch.zeros(embed_dim))
        self.b_o = nn.Parameter(torch.zeros(embed_dim))

    def forward(self, query, key, value):
        q = torch.matmul(query, self.w_q) * self.head_dim ** -0.5 + self.b_q
        k = torch.matmul(key, self.w_k) + self.b_k
        v = torch.matmul(value, self.w_v) + self.b_v
        q, k, v = (t.reshape(*t.shape[:2], self.num_heads, self.head_dim).transpose(1, 2) for t in (q, k, v))
        ctx = torch.matmul(torch.softmax(torch.matmul(q, k.transpose(2, 3)), dim=-1), v)
        return torch.matmul(ctx.transpose(1, 2).reshape(query.shape), self.w_o) + self.b_o
