import math, torch
import torch.nn as nn, torch.nn.functional as F

class EncLayer(nn.Module):
    # size: embedding, h: heads, ff: hidden, mask: (B, L) bytes, 1 = look
    def __init__(self, size, h, ff):
        super().__init__()
        assert size % h == 0, "h must divide size"
        self.size, self.h = size, h
        self.proj = nn.ModuleDict({n: nn.Linear(size, size) for n in ("q", "k", "v", "o")})
        self.ff_in, self.ff_out = nn.Linear(size, ff), nn.Linear(ff, size)
        self.norm = nn.LayerNorm(size)

    def _heads(self, t):
        return torch.stack(t.split(self.size // self.h, dim=-1), dim=1)

    def forward(self, x, mask=None):
        q, k, v = (self._heads(self.proj[n](x)) for n in ("q", "k", "v"))
        e = torch.einsum("bhid,bhjd->bhij", q, k).div(math.sqrt(self.size / self.h))
        if mask is not None:
            e = e + torch.zeros_like(e).masked_fill(mask[:, None, None].eq(0), -math.inf)
        c = torch.cat(torch.unbind(F.softmax(e, -1) @ v, dim=1), dim=-1)
        x = self.norm(x + self.proj["o"](c))
        x = self.norm(x + self.ff_out(F.relu(self.ff_in(x))))
        return x
