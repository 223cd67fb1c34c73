import torch.nn as nn
import torch.nn.functional as F


class CausalGQA(nn.Module):
    def __init__(self, n_embd, n_head, n_kv_head=2, bias=False):
        super().__init__()
        if n_head % n_kv_head:
            raise ValueError("n_head must be a multiple of n_kv_head")
        if n_embd % n_head:
            raise ValueError("n_embd must be a multiple of n_head")
        self.n_head, self.n_kv_head, self.head_dim = n_head, n_kv_head, n_embd // n_head
        self.c_q = nn.Linear(n_embd, n_embd, bias=bias)
        self.c_k = nn.Linear(n_embd, n_kv_head * self.head_dim, bias=bias)
        self.c_v = nn.Linear(n_embd, n_kv_head * self.head_dim, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)

    def forward(self, x):
        B, T, C = x.size()
        q = self.c_q(x).view(B, T, self.n_head, self.head_dim).transpose(1, 2)
        k = self.c_k(x).view(B, T, self.n_kv_head, self.head_dim).transpose(1, 2)
        v = self.c_v(x).view(B, T, self.n_kv_head, self.head_dim).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
