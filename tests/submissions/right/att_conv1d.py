import torch
import torch.nn as nn


class TransposedLinear(nn.Module):
    """the checkpoint has its matrices as (in, out), so do we"""

    def __init__(self, n_out, n_in):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out).normal_(std=0.02))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        flat = torch.addmm(self.bias, x.flatten(0, -2), self.weight)
        return flat.unflatten(0, x.shape[:-1])


class OldAttention(nn.Module):
    def __init__(self, nx, n_ctx, n_head):
        super().__init__()
        if nx % n_head:
            raise ValueError((nx, n_head))
        self.n_head = n_head
        self.fused = TransposedLinear(3 * nx, nx)
        self.final = TransposedLinear(nx, nx)
        self.register_buffer("lower", torch.ones(n_ctx, n_ctx, dtype=torch.uint8).tril())

    def forward(self, x):
        n, t, nx = x.shape
        q, k, v = self.fused(x).view(n, t, 3, self.n_head, nx // self.n_head).unbind(2)
        w = torch.einsum("bthd,bshd->bhts", q, k) / (nx // self.n_head) ** 0.5
        low = self.lower[:t, :t].to(w.dtype)
        w = w * low - 1e10 * (1 - low)
        y = torch.einsum("bhts,bshd->bthd", torch.softmax(w, -1), v)
        return self.final(y.reshape(n, t, nx))
