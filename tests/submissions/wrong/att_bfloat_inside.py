import torch
from torch import nn


class FastAttention(nn.Module):
    """bf16 on the inside because it is twice as fast on my card"""

    def __init__(self, d_model, nhead):
        super().__init__()
        assert d_model % nhead == 0
        self.nhead = nhead
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x):
        n, t, d = x.shape
        dtype = x.dtype
        q, k, v = self.in_proj(x).to(torch.bfloat16).unflatten(-1, (3, self.nhead, -1)).permute(2, 0, 3, 1, 4)
        a = torch.softmax(q @ k.transpose(-1, -2) * (d // self.nhead) ** -0.5, dim=-1)
        o = (a @ v).transpose(1, 2).reshape(n, t, d)
        return self.out_proj(o.to(dtype))
