import torch
import torch.nn as nn


class MHASublayer(nn.Module):
    ''' attention, add, norm. Sizes of key and value may differ from d_model / n_head. '''

    def __init__(self, n_head, d_model, d_k, d_v):
        super().__init__()
        self.sizes = n_head, d_k, d_v
        self.make_q = nn.Linear(d_model, n_head * d_k, bias=False)
        self.make_k = nn.Linear(d_model, n_head * d_k, bias=False)
        self.make_v = nn.Linear(d_model, n_head * d_v, bias=False)
        self.back = nn.Linear(n_head * d_v, d_model, bias=False)
        self.norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, q, k, v, mask=None):
        h, dk, dv = self.sizes
        Q = self.make_q(q).view(q.size(0), q.size(1), h, dk).transpose(1, 2)
        K = self.make_k(k).view(k.size(0), k.size(1), h, dk).transpose(1, 2)
        V = self.make_v(v).view(v.size(0), v.size(1), h, dv).transpose(1, 2)
        A = Q @ K.transpose(2, 3) / dk ** 0.5
        if mask is not None:
            A = A.masked_fill(mask[:, None] == 0, -1e9)
        A = A.softmax(dim=3)
        y = self.back((A @ V).transpose(1, 2).reshape(q.size(0), q.size(1), h * dv))
        return self.norm(y + q), A
