import torch.nn as nn


class SelfAttention(nn.Module):
    """x: (batch, tokens, dim)"""

    def __init__(self, dim, n_heads, dropout=0.0):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim=dim, num_heads=n_heads, dropout=dropout)

    def forward(self, x):
        out, _ = self.attention(x, x, x)
        return out
