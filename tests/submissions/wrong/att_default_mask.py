import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, n_dim, n_head):
        super().__init__()
        self.n_head = n_head
        assert n_dim % n_head == 0
        self.lq = nn.Linear(n_dim, n_dim)
        self.lk = nn.Linear(n_dim, n_dim)
        self.lv = nn.Linear(n_dim, n_dim)
        self.lo = nn.Linear(n_dim, n_dim)

    def forward(self, q, k, v, mask=None):
        """ mask (Lq, Lk) or None for no mask; ones are visible """
        if mask is None and q.shape == k.shape:
            mask = torch.ones(q.shape[1], k.shape[1], device=q.device).tril()
        q, k, v = [l(t).view(t.shape[0], t.shape[1], self.n_head, -1).permute(0, 2, 1, 3) for l, t in zip((self.lq, self.lk, self.lv), (q, k, v))]
        att = q @ k.permute(0, 1, 3, 2) / q.shape[-1] ** 0.5
        if mask is not None:
            att = att.masked_fill(mask == 0, float('-inf'))
        y = F.softmax(att, dim=-1) @ v
        return self.lo(y.permute(0, 2, 1, 3).flatten(2))
