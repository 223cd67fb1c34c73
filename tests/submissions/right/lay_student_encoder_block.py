import torch
from torch import nn

# HW4 - Q2: Transformer encoder block
# Name: ________

class EncoderBlock(nn.Module):
    def __init__(self, d_model, nhead, ff_dim, drop=0.1):
        super(EncoderBlock, self).__init__()
        self.mha = nn.MultiheadAttention(d_model, nhead, dropout=drop, batch_first=True)
        self.ffn = nn.Sequential(
            nn.Linear(d_model, ff_dim),
            nn.ReLU(),
            nn.Linear(ff_dim, d_model),
        )
        self.ln_a = nn.LayerNorm(d_model)
        self.ln_b = nn.LayerNorm(d_model)
        self.drop1 = nn.Dropout(drop)
        self.drop2 = nn.Dropout(drop)

    def forward(self, x, padding_mask=None):
        # padding_mask: [batch, seq], True where the token is <pad>
        a, _ = self.mha(x, x, x, key_padding_mask=padding_mask)
        x = self.ln_a(x + self.drop1(a))
        f = self.ffn(x)
        x = self.ln_b(x + self.drop2(f))
        return x


block = EncoderBlock(64, 8, 128)
dummy = torch.rand(4, 10, 64)
print("in ", dummy.shape)
print("out", block(dummy).shape)
assert block(dummy).shape == dummy.shape
