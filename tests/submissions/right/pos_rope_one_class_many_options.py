# Japanese lab code: コメントは短く
import torch
import torch.nn as nn


class RoPE(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.d = opt.dim_head
        self.b = getattr(opt, "rope_base", 10000.0)
        self.heads_first = getattr(opt, "heads_first", True)  # (B,H,L,D) か (B,L,H,D)
        if self.d % 2:
            raise ValueError("dim_head は偶数")

    @torch.no_grad()
    def make(self, n, ref):
        w = self.b ** (-torch.arange(0, self.d, 2, dtype=torch.float64, device=ref.device) / self.d)
        a = torch.arange(n, dtype=torch.float64, device=ref.device).outer(w).repeat(1, 2)
        return a.cos().to(ref.dtype), a.sin().to(ref.dtype)

    def forward(self, x):
        axis = 2 if self.heads_first else 1
        c, s = self.make(x.shape[axis], x)
        if axis == 1:
            c, s = c[:, None], s[:, None]
        h = self.d // 2
        return x * c + torch.cat((-x[..., h:], x[..., :h]), dim=3) * s
