import torch
from torch import nn


class SharedKeyAttention(nn.Module):
    """Each head of keys and values serves n_groups heads of queries."""

    def __init__(self, embed_dim: int, num_heads: int, n_groups: int = 4):
        super().__init__()
        assert num_heads % n_groups == 0
        self.num_heads, self.n_groups = num_heads, n_groups
        self.depth = embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim // n_groups)
        self.value = nn.Linear(embed_dim, embed_dim // n_groups)
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        n, length, width = x.shape
        q = self.query(x).unflatten(-1, (-1, self.n_groups, self.depth))  # (N, L, K, G, D)
        k = self.key(x).unflatten(-1, (-1, self.depth))  # (N, L, K, D)
        v = self.value(x).unflatten(-1, (-1, self.depth))
        logits = torch.einsum("nqkgd,nskd->nkgqs", q, k) / self.depth**0.5
        mixed = torch.einsum("nkgqs,nskd->nqkgd", logits.softmax(dim=-1), v)
        return self.out(mixed.reshape(n, length, width))
