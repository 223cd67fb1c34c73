import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """One file, one block: attention written out, MLP written out."""

    def __init__(self, dim, n_head, mlp_ratio=2):
        super().__init__()
        self.n_head = n_head
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, dim)
        self.fc_1 = nn.Linear(dim, dim * mlp_ratio)
        self.fc_2 = nn.Linear(dim * mlp_ratio, dim)
        self.ln_1 = nn.LayerNorm(dim)
        self.ln_2 = nn.LayerNorm(dim)

    def forward(self, x):
        b, t, d = x.shape
        h = self.n_head
        y = self.ln_1(x)
        q = self.to_q(y).reshape(b, t, h, d // h).permute(0, 2, 1, 3)
        k = self.to_k(y).reshape(b, t, h, d // h).permute(0, 2, 1, 3)
        v = self.to_v(y).reshape(b, t, h, d // h).permute(0, 2, 1, 3)
        att = F.softmax(torch.matmul(q, k.mT) * (d // h) ** -0.5, dim=-1)
        y = torch.matmul(att, v)
        y = y.reshape(b, t, d)
        x = x + self.to_out(y)
        return x + self.fc_2(F.silu(self.fc_1(self.ln_2(x))))
