import torch
import torch.nn as nn
import torch.nn.functional as F


class MHA(nn.Module):
    def __init__(self, dim_embed, n_heads):
        super().__init__()
        assert dim_embed % n_heads == 0
        self.nh = n_heads
        self.q = nn.Linear(dim_embed, dim_embed)
        self.kv = nn.Linear(dim_embed, 2 * dim_embed)
        self.out = nn.Linear(dim_embed, dim_embed)

    def forward(self, x_q, x_kv, need_weights=False):
        q = self.q(x_q).unflatten(-1, (self.nh, -1)).transpose(1, 2)
        k, v = self.kv(x_kv).unflatten(-1, (2, self.nh, -1)).permute(2, 0, 3, 1, 4)
        if need_weights:
            w = torch.softmax(q @ k.transpose(-1, -2), dim=-1)
            return self.out((w @ v).transpose(1, 2).flatten(2)), w
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
