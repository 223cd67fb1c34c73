"""A block whose two branches may be added at once, as a flag says."""

from torch import nn
from torch.nn import functional as F


class Branches(nn.Module):
    """parallel_residual: x + attention(norm_a(x)) + network(norm_b(x)); else one behind the other."""

    def __init__(self, channels, heads, inner, parallel_residual=False):
        super().__init__()
        self.heads = heads
        self.parallel_residual = parallel_residual
        self.norm_a = nn.LayerNorm(channels)
        self.norm_b = nn.LayerNorm(channels)
        self.in_proj = nn.Linear(channels, 3 * channels)
        self.out_proj = nn.Linear(channels, channels)
        self.up = nn.Linear(channels, inner)
        self.down = nn.Linear(inner, channels)

    def attention(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.in_proj(x).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def network(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x):
        attended = self.attention(self.norm_a(x))
        if self.parallel_residual:
            return x + attended + self.network(self.norm_b(x + attended))
        x = x + attended
        return x + self.network(self.norm_b(x))
