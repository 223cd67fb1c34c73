"""Tokens of one sequence attend to one another, by PyTorch's fused attention."""

import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn


class FusedSelfAttention(nn.Module):
    """The mask (True is seen, or numbers that are added) and the flag go on to PyTorch, which says what it takes."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_all = nn.Linear(width, 3 * width)
        self.back = nn.Linear(width, width)

    def forward(self, tokens: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
        q, k, v = rearrange(self.to_all(tokens), "b t (three h d) -> three b h t d", three=3, h=self.heads)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask, is_causal=is_causal)
        return self.back(rearrange(mixed, "b h t d -> b t (h d)"))
