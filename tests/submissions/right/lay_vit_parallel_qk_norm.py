"""Parallel ViT layers with QK LayerNorm, after "Scaling Vision Transformers to 22 Billion Parameters"."""

from torch import nn
from torch.nn import functional as F


class ParallelAttentionMLP(nn.Module):
    def __init__(self, dim, num_heads, mlp_dim):
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.q_norm = nn.LayerNorm(dim // num_heads)
        self.k_norm = nn.LayerNorm(dim // num_heads)
        self.proj = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, mlp_dim)
        self.fc2 = nn.Linear(mlp_dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        y = self.norm(x)
        q, k, v = self.qkv(y).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C)
        return x + self.proj(attended) + self.fc2(F.gelu(self.fc1(y)))


class ViTEncoder(nn.Module):
    def __init__(self, dim, depth, num_heads, mlp_dim):
        super().__init__()
        self.blocks = nn.ModuleList(ParallelAttentionMLP(dim, num_heads, mlp_dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)
