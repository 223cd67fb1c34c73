import torch
from torch import nn


class Attn(nn.Module):
    """Feature i belongs to head i % nheads (I cut with a stride, no reshape needed)."""

    def __init__(self, width, nheads):
        super().__init__()
        assert width % nheads == 0
        self.nheads = nheads
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.o = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        y = torch.empty_like(v)
        parts = []
        for h in range(self.nheads):
            qh, kh, vh = q[..., h::self.nheads], k[..., h::self.nheads], v[..., h::self.nheads]
            w = torch.softmax(qh @ kh.transpose(1, 2) / qh.shape[-1] ** 0.5, dim=-1)
            parts.append(w @ vh)
        y = torch.stack(parts, dim=-1).flatten(-2)
        return self.o(y)
