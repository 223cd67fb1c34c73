import torch
from torch import nn


class MultiHeadAttn(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        assert hidden % heads == 0
        self.h = heads
        self.fc_q = nn.Linear(hidden, hidden)
        self.fc_k = nn.Linear(hidden, hidden)
        self.fc_v = nn.Linear(hidden, hidden)
        self.fc_o = nn.Linear(hidden, hidden)

    def forward(self, q, k, v, mask=None):
        B, L, D = q.shape
        # B x h x len x d
        q, k, v = [f(t).unflatten(2, (self.h, D // self.h)).transpose(1, 2) for f, t in [(self.fc_q, q), (self.fc_k, k), (self.fc_v, v)]]
        a = torch.softmax(q @ k.transpose(2, 3) / (D // self.h) ** 0.5, dim=-1)
        if mask is not None:
            a = a * mask[:, None].to(a.dtype)
        return self.fc_o((a @ v).transpose(1, 2).flatten(2)), a
