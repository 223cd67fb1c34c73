import torch
import torch.nn as nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, dim, head, p):
        super().__init__()
        self.head, self.p = head, p
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wkv = nn.Linear(dim, 2 * dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, ctx=None, causal=False):
        ctx = x if ctx is None else ctx
        b, t, d = x.shape
        q = self.wq(x).view(b, t, self.head, -1).transpose(1, 2)
        k, v = self.wkv(ctx).view(b, ctx.size(1), 2, self.head, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal, dropout_p=self.p)
        return self.wo(y.transpose(1, 2).reshape(b, t, d))


class CrossBlock(nn.Module):
    def __init__(self, dim, head, mult=4, p=0.1):
        super().__init__()
        self.a, self.c = Attn(dim, head, p), Attn(dim, head, p)
        self.ff = nn.Sequential(nn.Linear(dim, mult * dim, bias=False), nn.SiLU(), nn.Linear(mult * dim, dim, bias=False))
        self.na, self.nc, self.nf = (nn.RMSNorm(dim, eps=1e-6) for _ in range(3))
        self.drop = nn.Dropout(p)

    def forward(self, x, ctx):
        x = x + self.drop(self.a(self.na(x), causal=True))
        x = x + self.drop(self.c(self.nc(x), ctx))
        return x + self.drop(self.ff(self.nf(x)))
