"""The feed-forward half of a decoder block; the entries of `params` come from a JSON file that lies beside the weights."""

from torch import nn
import torch.nn.functional as F


class SwiGLUHalf(nn.Module):
    def __init__(self, params):
        super().__init__()
        inner = 2 * (4 * params.dim) // 3
        if params.ffn_stretch is not None:
            inner = round(params.ffn_stretch * inner)
        inner += -inner % params.multiple_of
        self.w_in = nn.Linear(params.dim, inner, bias=False)
        self.w_gate = nn.Linear(params.dim, inner, bias=False)
        self.w_out = nn.Linear(inner, params.dim, bias=False)

    def forward(self, tokens):
        return self.w_out(F.silu(self.w_gate(tokens)).mul(self.w_in(tokens)))
