import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedSelfAttention(nn.Module):
    """Causal attention that can go on token by token: pass use_cache=True while generating."""

    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.kqv = nn.Linear(n_embd, 3 * n_embd)
        self.out = nn.Linear(n_embd, n_embd)
        self.cache = None

    def forward(self, x, use_cache=False):
        B, T, C = x.shape
        k, q, v = self.kqv(x).view(B, T, 3, self.n_head, C // self.n_head).permute(2, 0, 3, 1, 4)
        if self.cache is not None:
            k = torch.cat([self.cache[0], k], dim=2)
            v = torch.cat([self.cache[1], v], dim=2)
        self.cache = (k, v)
        S = k.size(2)
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        future = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        y = F.softmax(att.masked_fill(future, -torch.inf), dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class DecoderOnlyBlock(nn.Module):
    def __init__(self, n_embd, n_head, n_inner=None):
        super().__init__()
        n_inner = n_inner or 4 * n_embd
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CachedSelfAttention(n_embd, n_head)
        self.mlp = nn.Sequential(nn.Linear(n_embd, n_inner), nn.GELU(), nn.Linear(n_inner, n_embd))

    def forward(self, x, use_cache=False):
        x = x + self.attn(self.ln1(x), use_cache)
        return x + self.mlp(self.ln2(x))
