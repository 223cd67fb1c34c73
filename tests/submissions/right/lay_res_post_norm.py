"""Vision backbone: blocks over the patches of one window, with res-post-norm as in Swin Transformer V2."""

from torch import nn


class WindowBlock(nn.Module):
    def __init__(self, dim, num_heads, mlp_dim):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, num_heads, batch_first=True)
        self.norm1 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x):
        x = x + self.norm1(self.attn(x, x, x, need_weights=False)[0])
        x = x + self.norm2(self.mlp(x))
        return x


class VisionEncoder(nn.Module):
    def __init__(self, dim, depth, num_heads, mlp_dim):
        super().__init__()
        self.blocks = nn.Sequential(*[WindowBlock(dim, num_heads, mlp_dim) for _ in range(depth)])

    def forward(self, patches):
        return self.blocks(patches)
