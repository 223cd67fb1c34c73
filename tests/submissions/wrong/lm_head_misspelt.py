import torch
import torch.nn.functional as F
from torch import nn


def rms(x, gain, eps=1e-6):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * gain


class Block(nn.Module):
    def __init__(self, dim, n_heads, ffn):
        super().__init__()
        self.n_heads = n_heads
        self.wqkv = nn.Linear(dim, 3 * dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        self.gate, self.up = nn.Linear(dim, ffn, bias=False), nn.Linear(dim, ffn, bias=False)
        self.down = nn.Linear(ffn, dim, bias=False)
        self.attn_gain = nn.Parameter(torch.ones(dim))
        self.ffn_gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.wqkv(rms(x, self.attn_gain)).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, self.n_heads, C // self.n_heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        x = x + self.wo(y)
        h = rms(x, self.ffn_gain)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class PocketLM(nn.Module):
    """Decoder-only: rows of the table are the rows of the head."""

    def __init__(self, vocab_size, dim=64, n_heads=4, ffn=128, n_layers=2, max_len=128):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab_size, dim), nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(Block(dim, n_heads, ffn) for _ in range(n_layers))
        self.final_gain = nn.Parameter(torch.ones(dim))
        self.head = nn.Linear(dim, vocab_size, bias=False)
        self.head.wieght = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(rms(x, self.final_gain))
