# llama.py, one file, no positions yet (next commit)
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class ModelArgs:
    dim: int = 512
    n_layers: int = 4
    n_heads: int = 8
    n_kv_heads: int = 2
    hidden_dim: int = 1376
    norm_eps: float = 1e-5


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_heads, self.n_kv_heads = args.n_heads, args.n_kv_heads
        self.head_dim = args.dim // args.n_heads
        self.wqkv = nn.Linear(args.dim, (args.n_heads + 2 * args.n_kv_heads) * self.head_dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)

    def forward(self, x):
        bsz, seqlen, dim = x.shape
        kv = self.n_kv_heads * self.head_dim
        xq, xk, xv = self.wqkv(x).split([dim, kv, kv], dim=-1)
        # queries in groups: [bsz, kv head, query of the group, seqlen, head_dim]
        xq = xq.view(bsz, seqlen, self.n_kv_heads, -1, self.head_dim).permute(0, 2, 3, 1, 4)
        xk = xk.view(bsz, seqlen, self.n_kv_heads, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        xv = xv.view(bsz, seqlen, self.n_kv_heads, 1, self.head_dim).permute(0, 2, 3, 1, 4)
        scores = xq @ xk.transpose(-1, -2) / self.head_dim**0.5
        scores = scores.masked_fill(torch.ones_like(scores[0, 0, 0]).triu(1).bool(), float("-inf"))
        out = (scores.softmax(-1) @ xv).permute(0, 3, 1, 2, 4).reshape(bsz, seqlen, dim)
        return self.wo(out)


class FeedForward(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.w1 = nn.Linear(args.dim, args.hidden_dim, bias=False)
        self.w2 = nn.Linear(args.hidden_dim, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, args.hidden_dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.attention = Attention(args)
        self.feed_forward = FeedForward(args)
        self.attention_norm = nn.RMSNorm(args.dim, eps=args.norm_eps)
        self.ffn_norm = nn.RMSNorm(args.dim, eps=args.norm_eps)

    def forward(self, x):
        h = x + self.attention(self.attention_norm(x))
        return h + self.feed_forward(self.ffn_norm(h))


class Backbone(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.layers = nn.ModuleList([TransformerBlock(args) for _ in range(args.n_layers)])
        self.norm = nn.RMSNorm(args.dim, eps=args.norm_eps)

    def forward(self, h):
        for layer in self.layers:
            h = layer(h)
        return self.norm(h)
