"""Vision transformer over patches that are cut already, with a class token and spare tokens that are thrown away."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return self.ln2(x) + self.mlp(self.ln2(x))


class PatchTransformer(nn.Module):
    """patches (batch, num_patches, patch_dim) -> (batch, num_classes)"""

    def __init__(self, num_patches, patch_dim, num_classes, dim, depth, heads, mlp_dim, spare=4):
        super().__init__()
        self.parts = [1, spare, num_patches]
        self.project = nn.Linear(patch_dim, dim)
        self.extra = nn.Parameter(torch.randn(1 + spare, dim) / dim**0.5)
        self.place = nn.Parameter(torch.randn(1 + spare + num_patches, dim) / dim**0.5)
        self.layers = nn.ModuleList(Layer(dim, heads, mlp_dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.classify = nn.Linear(2 * dim, num_classes)

    def forward(self, patches):
        x = self.project(patches)
        x = torch.cat([self.extra.expand(len(x), -1, -1), x], dim=1) + self.place
        for layer in self.layers:
            x = layer(x)
        first, _, seen = self.norm(x).split(self.parts, dim=1)
        return self.classify(torch.cat([first[:, 0], seen.mean(dim=1)], dim=-1))
