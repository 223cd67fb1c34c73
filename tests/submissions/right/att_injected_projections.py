from torch import nn, Tensor
import torch


class Attend(nn.Module):
    """Projections are given from outside (plain, LoRA, quantised, ... not my business)."""

    def __init__(self, q_proj: nn.Module, k_proj: nn.Module, v_proj: nn.Module, output_proj: nn.Module, num_heads: int):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.output_proj = q_proj, k_proj, v_proj, output_proj
        self.num_heads = num_heads

    def forward(self, x: Tensor, y: Tensor, *, mask: Tensor | None = None) -> Tensor:
        b, s_x, _ = x.shape
        s_y = y.shape[1]
        q = self.q_proj(x).view(b, s_x, self.num_heads, -1).transpose(1, 2)
        k = self.k_proj(y).view(y.shape[0], s_y, self.num_heads, -1).transpose(1, 2)
        v = self.v_proj(y).view(y.shape[0], s_y, self.num_heads, -1).transpose(1, 2)
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask[:, None])
        return self.output_proj(out.transpose(1, 2).contiguous().view(b, s_x, -1))
