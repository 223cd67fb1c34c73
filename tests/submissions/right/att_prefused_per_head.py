import torch
import torch.nn as nn


def four_axes(mask):
    """(T, T) or (B, T, T) -> something that goes with (B, H, T, T)"""
    if mask is None or mask.dim() == 4:
        return mask
    return mask[:, None] if mask.dim() == 3 else mask[None, None]


class HeadMajorAttention(nn.Module):

    def __init__(self, input_dim, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0, "embed_dim has to be a multiple of num_heads"
        self.num_heads = num_heads
        self.expand = nn.Linear(input_dim, 3 * embed_dim)
        self.reduce = nn.Linear(embed_dim, input_dim)

    def forward(self, x, mask=None, return_attention=False):
        # q, k and v stand together within each head
        b, t, _ = x.shape
        packed = self.expand(x).reshape(b, t, self.num_heads, -1).transpose(1, 2)
        q, k, v = packed.chunk(3, dim=3)
        sim = torch.matmul(q, k.transpose(2, 3)) / q.size(3) ** 0.5
        mask = four_axes(mask)
        if mask is not None:
            sim = sim.masked_fill(mask == 0, -9e15)
        att = sim.softmax(dim=3)
        y = self.reduce(torch.matmul(att, v).transpose(1, 2).flatten(2))
        if return_attention:
            return y, att
        return y
