import torch
import torch.nn as nn

# hyperparameters of the lab sheet
HIDDEN = 30
HEADS = 3
INTERMEDIATE = 70


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True)
        self.norm_a = nn.LayerNorm(HIDDEN)
        self.norm_b = nn.LayerNorm(HIDDEN)
        self.mlp = nn.Sequential(nn.Linear(HIDDEN, INTERMEDIATE), nn.ReLU(), nn.Linear(INTERMEDIATE, HIDDEN))

    def forward(self, x, x_mask=None):
        print("x", tuple(x.shape))
        attn_out, attn_map = self.attention(x, x, x, key_padding_mask=x_mask)
        print("attention", tuple(attn_out.shape), tuple(attn_map.shape))
        h = self.norm_a(x + attn_out)
        mlp_out = self.mlp(h)
        y = self.norm_b(x + mlp_out)
        print("y", tuple(y.shape))
        return y, attn_map
