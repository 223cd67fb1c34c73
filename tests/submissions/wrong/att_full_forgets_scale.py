import torch
from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, d_model, n_head, full=False):
        super().__init__()
        self.n_head = n_head
        self.full = full
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (w(x).unflatten(2, (self.n_head, -1)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        if self.full:
            y = F.softmax(q @ k.transpose(2, 3), dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.w_o(y.transpose(1, 2).flatten(2))
