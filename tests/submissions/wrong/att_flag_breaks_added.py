import torch
import torch.nn.functional as F
from torch import nn


class PackedAttention(nn.Module):
    def __init__(self, channels, num_heads, causal=False, p_attn=0.0):
        super().__init__()
        self.num_heads, self.causal, self.p_attn = num_heads, causal, p_attn
        self.packed = nn.Linear(channels, 3 * channels, bias=False)
        self.mix = nn.Linear(channels, channels, bias=False)

    def forward(self, x, *, mask=None):
        """mask: (B, H, T, T) or what expands to it; bool, where True takes part, or float, which is added."""
        size = x.shape[1]
        q, k, v = self.packed(x).unflatten(2, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        alone = self.causal and mask is None
        if self.causal and mask is not None:  # SDPA wants one of the two
            past = torch.arange(size, device=x.device)
            mask = mask & (past[None, :] <= past[:, None])
        dropped = self.p_attn if self.training else 0.0
        y = F.scaled_dot_product_attention(q, k, v, mask, dropped, alone)
        return self.mix(y.transpose(1, 2).flatten(2))
