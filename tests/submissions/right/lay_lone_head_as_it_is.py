"""Encoder blocks for patches, pre-norm. A block with one head of full width has no mixing layer behind it."""
from torch import nn
from torch.nn import functional as F


class PatchAttention(nn.Module):
    def __init__(self, width, n_heads, head_width):
        super().__init__()
        self.n_heads = n_heads
        inner = n_heads * head_width
        self.triple = nn.Linear(width, 3 * inner, bias=False)
        alone = n_heads == 1 and head_width == width
        self.mix = nn.Identity() if alone else nn.Linear(inner, width)

    def forward(self, patches):
        q, k, v = self.triple(patches).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        weights = ((q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)).softmax(-1)
        return self.mix((weights @ v).transpose(1, 2).flatten(2))


class PatchBlock(nn.Module):
    def __init__(self, width, n_heads, head_width, mlp_dim):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = PatchAttention(width, n_heads, head_width)
        self.fc1, self.fc2 = nn.Linear(width, mlp_dim), nn.Linear(mlp_dim, width)

    def forward(self, patches):
        patches = patches + self.attention(self.before_attention(patches))
        return patches + self.fc2(F.gelu(self.fc1(self.before_mlp(patches))))


class PatchEncoder(nn.Module):
    def __init__(self, width, depth, n_heads, head_width, mlp_dim):
        super().__init__()
        self.blocks = nn.ModuleList([PatchBlock(width, n_heads, head_width, mlp_dim) for _ in range(depth)])

    def forward(self, patches):
        for block in self.blocks:
            patches = block(patches)
        return patches
