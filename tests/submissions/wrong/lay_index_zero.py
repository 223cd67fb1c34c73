import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, emb_dim, n_heads, head_dim):
        super().__init__()
        self.shape = (n_heads, head_dim)
        self.q = nn.Linear(emb_dim, n_heads * head_dim)
        self.k = nn.Linear(emb_dim, n_heads * head_dim)
        self.v = nn.Linear(emb_dim, n_heads * head_dim)
        self.o = nn.Linear(n_heads * head_dim, emb_dim)

    def forward(self, q, k, v):
        q = self.q(q).unflatten(-1, self.shape).transpose(1, 2)
        k = self.k(k).unflatten(-1, self.shape).transpose(1, 2)
        v = self.v(v).unflatten(-1, self.shape).transpose(1, 2)
        w = torch.softmax(q @ k.mT * self.shape[1] ** -0.5, dim=-1)
        return self.o((w @ v).transpose(1, 2).flatten(2))


class PatchLayer(nn.Module):
    # first version used nn.MultiheadAttention, replaced by our own class in ex. 3
    def __init__(self, emb_dim, n_heads, mlp_dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(emb_dim, eps=1e-6)
        self.attn = Attention(emb_dim, n_heads, emb_dim // n_heads)
        self.norm2 = nn.LayerNorm(emb_dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(emb_dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, emb_dim))

    def forward(self, patches):
        n = self.norm1(patches)
        patches = patches + self.attn(n, n, n)[0]
        return patches + self.mlp(self.norm2(patches))
