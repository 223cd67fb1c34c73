"""Self-attention; with one head there is nothing to mix, so the last layer is passed by."""
import torch
from torch import nn


class SelfAttn(nn.Module):
    def __init__(self, d_model, nheads):
        super().__init__()
        self.nheads = nheads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.last = nn.Linear(d_model, d_model)

    def split(self, t):
        return t.reshape(*t.shape[:2], self.nheads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        att = torch.softmax(q / q.size(-1) ** 0.5 @ k.transpose(2, 3), dim=3)
        y = (att @ v).transpose(1, 2).reshape(x.shape)
        if self.nheads == 1:
            return y
        return self.last(y)
