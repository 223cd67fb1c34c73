import torch
import torch.nn as nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)
        self.softmax = nn.Softmax(dim=1)
        self.scale = self.head_dim ** 0.5

    def forward(self, x):
        batch, seq, dim = x.size()
        q = self.query(x).view(batch, seq, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.key(x).view(batch, seq, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.value(x).view(batch, seq, self.num_heads, self.head_dim).transpose(1, 2)
        attn = self.softmax(q @ k.transpose(-2, -1) / self.scale)
        out = (attn @ v).transpose(1, 2).contiguous().view(batch, seq, dim)
        return self.out(out), attn
