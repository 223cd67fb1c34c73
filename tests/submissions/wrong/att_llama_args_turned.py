import math
from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass
class ModelArgs:
    dim: int = 4096
    n_heads: int = 32
    n_kv_heads: int = 8
    dropout: float = 0.0


def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    """(bs, seq, kv heads, head_dim) -> (bs, seq, heads, head_dim)"""
    if n_rep == 1:
        return x
    bs, seq, kv, hd = x.shape
    return x.unsqueeze(2).expand(bs, seq, n_rep, kv, hd).reshape(bs, seq, kv * n_rep, hd)


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_heads = args.n_heads
        self.n_kv_heads = args.n_kv_heads
        self.n_rep = self.n_heads // self.n_kv_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, self.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)
        self.attn_dropout = nn.Dropout(args.dropout)

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None):
        bs, seq, _ = x.shape
        xq = self.wq(x).view(bs, seq, self.n_heads, self.head_dim)
        xk = repeat_kv(self.wk(x).view(bs, seq, self.n_kv_heads, self.head_dim), self.n_rep)
        xv = repeat_kv(self.wv(x).view(bs, seq, self.n_kv_heads, self.head_dim), self.n_rep)
        xq, xk, xv = (t.transpose(1, 2) for t in (xq, xk, xv))
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores + mask  # (seq, seq), 0 or -inf
        scores = self.attn_dropout(scores.softmax(dim=-1))
        return self.wo(torch.matmul(scores, xv).transpose(1, 2).reshape(bs, seq, -1))
