"""Pre-LN decoder with its own causal mask. Shapes: b batch, t target, s source, h heads, k head size, e model."""
import torch
from torch import nn, einsum


class MHA(nn.Module):
    def __init__(self, e, h):
        super().__init__()
        self.h, self.k = h, e // h
        self.wq, self.wk, self.wv, self.wo = (nn.Parameter(torch.empty(e, e)) for _ in range(4))
        for w in self.parameters():
            nn.init.xavier_uniform_(w)

    def forward(self, x, y, keep=None):
        q = (x @ self.wq).view(*x.shape[:2], self.h, self.k)
        k = (y @ self.wk).view(*y.shape[:2], self.h, self.k)
        v = (y @ self.wv).view(*y.shape[:2], self.h, self.k)
        score = einsum("bthk,bshk->bhts", q, k) * self.k ** -0.5
        if keep is not None:
            score = torch.where(keep, score, torch.finfo(score.dtype).min)
        z = einsum("bhts,bshk->bthk", score.softmax(-1), v)
        return z.reshape(*x.shape) @ self.wo


class DecoderLayer(nn.Module):
    def __init__(self, e, h, f, p):
        super().__init__()
        self.ln = nn.ModuleList(nn.LayerNorm(e, bias=False) for _ in range(3))
        self.slf, self.crs = MHA(e, h), MHA(e, h)
        self.ff = nn.Sequential(nn.Linear(e, f, bias=False), nn.GELU(), nn.Linear(f, e, bias=False))
        self.p = nn.Dropout(p)

    def forward(self, x, mem, tgt_keep, mem_keep):
        n = self.ln[0](x)
        x = x + self.p(self.slf(n, n, tgt_keep))
        x = x + self.p(self.crs(self.ln[1](x), mem, mem_keep))
        return x + self.p(self.ff(self.ln[2](x)))


class Decoder(nn.Module):
    def __init__(self, n_layers, e, h, f, p=0.0):
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(e, h, f, p) for _ in range(n_layers))
        self.ln_out = nn.LayerNorm(e, bias=False)

    def forward(self, x, mem, mem_keep=None):
        """mem_keep: (b, s) bool, True for real source tokens."""
        t = x.shape[1]
        causal = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        if mem_keep is not None:
            mem_keep = mem_keep[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mem, causal, mem_keep)
        return self.ln_out(x)
