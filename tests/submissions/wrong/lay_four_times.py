import torch
import torch.nn as nn


class EncoderLayer(nn.Module):
    """
    Args:
        embed_dim (int): size of the embedding
        ff_hidden_dim (int): size of the hidden layer in the feed-forward network
        num_heads (int): number of heads
        dropout (float)
    """

    def __init__(self, embed_dim, ff_hidden_dim, num_heads, dropout=0.1):
        super().__init__()
        self.attn = nn.MultiheadAttention(embed_dim, num_heads, dropout=dropout, batch_first=True)
        self.ff = nn.Sequential(
            nn.Linear(embed_dim, 4 * embed_dim),
            nn.GELU(),
            nn.Linear(4 * embed_dim, embed_dim),
        )
        self.norm_1 = nn.LayerNorm(embed_dim)
        self.norm_2 = nn.LayerNorm(embed_dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, attn_mask=None):
        """attn_mask: (L, L) bool, True = not allowed"""
        a, _ = self.attn(x, x, x, attn_mask=attn_mask)
        x = self.norm_1(x + self.drop(a))
        return self.norm_2(x + self.drop(self.ff(x)))
