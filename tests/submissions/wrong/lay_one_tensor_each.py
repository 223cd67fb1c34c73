import math
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.parameter import Parameter


class ScannedEncoder(nn.Module):
    """Pre-norm encoder. Weights are stored per kind, [depth, in, out], so that one file holds one array per kind."""

    def __init__(self, depth: int, dim: int, n_heads: int, ff_dim: int):
        super().__init__()
        self.depth, self.n_heads = depth, n_heads
        self.w_qkv = Parameter(torch.empty(depth, dim, 3 * dim).normal_(std=dim ** -0.5))
        self.w_out = Parameter(torch.empty(depth, dim, dim).normal_(std=dim ** -0.5))
        self.w_up = Parameter(torch.empty(depth, dim, ff_dim).normal_(std=dim ** -0.5))
        self.w_down = Parameter(torch.empty(depth, ff_dim, dim).normal_(std=ff_dim ** -0.5))
        self.norm_attn_scale, self.norm_attn_shift = Parameter(torch.ones(depth, dim)), Parameter(torch.zeros(depth, dim))
        self.norm_ff_scale, self.norm_ff_shift = Parameter(torch.ones(depth, dim)), Parameter(torch.zeros(depth, dim))
        self.last_scale, self.last_shift = Parameter(torch.ones(dim)), Parameter(torch.zeros(dim))

    def attend(self, x: Tensor, i: int) -> Tensor:
        b, t, d = x.shape
        q, k, v = (x @ self.w_qkv[i]).view(b, t, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        p = torch.softmax(q @ k.mT / math.sqrt(d // self.n_heads), dim=-1)
        return (p @ v).transpose(1, 2).reshape(b, t, d) @ self.w_out[i]

    def forward(self, x: Tensor) -> Tensor:
        for i in range(self.depth):
            x = F.layer_norm(x, x.shape[-1:], self.norm_attn_scale[i], self.norm_attn_shift[i])
            x = x + self.attend(x, i)
            h = F.layer_norm(x, x.shape[-1:], self.norm_ff_scale[i], self.norm_ff_shift[i])
            x = x + F.gelu(h @ self.w_up[i]) @ self.w_down[i]
        return F.layer_norm(x, x.shape[-1:], self.last_scale, self.last_shift)
