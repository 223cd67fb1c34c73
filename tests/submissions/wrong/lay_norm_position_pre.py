from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Transformer encoder block, post-norm or pre-norm."""

    def __init__(self, dim, heads, ff_dim, dropout=0.1, norm_position="post"):
        super().__init__()
        assert norm_position in ("pre", "post")
        self.norm_position = norm_position
        self.attn = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.up, self.down = nn.Linear(dim, ff_dim), nn.Linear(ff_dim, dim)
        self.norm1, self.norm2, self.drop = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Dropout(dropout)

    def ffn(self, x):
        return self.down(self.drop(F.relu(self.up(x))))

    def forward(self, x, key_padding_mask=None):
        if self.norm_position == "pre":
            x = self.norm1(x)
            x = x + self.drop(self.attn(x, x, x, key_padding_mask=key_padding_mask)[0])
            x = self.norm2(x)
            return x + self.drop(self.ffn(x))
        x = self.norm1(x + self.drop(self.attn(x, x, x, key_padding_mask=key_padding_mask)[0]))
        return self.norm2(x + self.drop(self.ffn(x)))
