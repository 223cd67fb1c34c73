import torch
import torch.nn as nn


class CrossAttn(nn.Module):
    def __init__(self, query_dim, context_dim, n_heads, d_head):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_head
        self.q = nn.Linear(query_dim, n_heads * d_head, bias=False)
        self.kv = nn.Linear(context_dim, 2 * n_heads * d_head, bias=False)
        self.proj = nn.Linear(n_heads * d_head, query_dim)

    def forward(self, x_q, x_kv):
        b, l, _ = x_q.shape
        s = x_kv.shape[1]
        q = self.q(x_q).reshape(b, l, self.n_heads, self.d_head)
        kv = self.kv(x_kv).reshape(x_kv.shape[0], s, 2, self.n_heads, self.d_head)
        k, v = kv.unbind(dim=2)
        if len(x_q) != len(x_kv):
            raise ValueError('batch of x_q and x_kv')
        a = torch.einsum('blhd,bshd->bhls', q, k) / self.d_head ** 0.5
        a = a.softmax(-1)
        z = torch.einsum('bhls,bshd->blhd', a, v)
        return self.proj(z.reshape(b, l, -1))
