from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Transformer encoder block, post-norm or pre-norm, with either activation."""

    def __init__(self, dim, heads, ff_dim, dropout=0.1, norm_position="post", activation="relu"):
        super().__init__()
        assert norm_position in ("pre", "post")
        self.norm_position = norm_position
        self.act = {"relu": F.relu, "gelu": F.gelu}[activation]
        self.attn = nn.MultiheadAttention(dim, heads, dropout=dropout, batch_first=True)
        self.up, self.down = nn.Linear(dim, ff_dim), nn.Linear(ff_dim, dim)
        self.norm1, self.norm2, self.drop = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Dropout(dropout)

    def attend(self, x, hidden):
        return self.drop(self.attn(x, x, x, key_padding_mask=hidden)[0])

    def ffn(self, x):
        return self.drop(self.down(self.drop(self.act(self.up(x)))))

    def forward(self, x, key_padding_mask=None):
        if self.norm_position == "pre":
            x = x + self.attend(self.norm1(x), key_padding_mask)
            return x + self.ffn(self.norm2(x))
        x = self.norm1(x + self.attend(x, key_padding_mask))
        return self.norm2(x + self.ffn(x))
