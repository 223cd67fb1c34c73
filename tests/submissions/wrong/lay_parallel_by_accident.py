import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    """Pre-norm encoder for graphs given as node lists (nodes see all nodes)."""

    def __init__(self, channels, attn_heads, mlp_channels, depth):
        super().__init__()
        self.depth = depth
        for i in range(depth):
            setattr(self, f"attn{i}", nn.MultiheadAttention(channels, attn_heads, bias=False, batch_first=True))
            setattr(self, f"up{i}", nn.Linear(channels, mlp_channels, bias=False))
            setattr(self, f"down{i}", nn.Linear(mlp_channels, channels, bias=False))
            setattr(self, f"norm_a{i}", nn.LayerNorm(channels, bias=False))
            setattr(self, f"norm_m{i}", nn.LayerNorm(channels, bias=False))
        self.norm = nn.LayerNorm(channels, bias=False)

    def forward(self, nodes):
        for i in range(self.depth):
            part = lambda name: getattr(self, f"{name}{i}")
            n = part("norm_a")(nodes)
            a = part("attn")(n, n, n, need_weights=False)[0]
            m = part("down")(F.gelu(part("up")(part("norm_m")(nodes))))
            nodes = nodes + a + m
        return self.norm(nodes)
