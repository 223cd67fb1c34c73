import torch.nn as nn
import torch.nn.functional as F


class Settings:
    width = 96
    heads = 6
    inner = 384
    use_parallel_residual = True
    eps = 1e-5

    def __init__(self, **given):
        for name, value in given.items():
            setattr(self, name, value)


class Step(nn.Module):
    """With use_parallel_residual x + attn(ln_1(x)) + mlp(ln_2(x)); without it one after the other."""

    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.ln_1 = nn.LayerNorm(cfg.width, eps=cfg.eps)
        self.ln_2 = nn.LayerNorm(cfg.width, eps=cfg.eps)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.proj = nn.Linear(cfg.width, cfg.width)
        self.up = nn.Linear(cfg.width, cfg.inner)
        self.down = nn.Linear(cfg.inner, cfg.width)

    def attn(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.cfg.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, n, w))

    def mlp(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x):
        seen = self.attn(self.ln_1(x))
        if self.cfg.use_parallel_residual:
            return x + seen + self.mlp(self.ln_2(x + seen))
        x = x + seen
        return x + self.mlp(self.ln_2(x))
