"""Self-attention from the second lecture: three maps and a softmax."""

import torch
from torch import nn


class LectureAttention(nn.Module):
    def __init__(self, d_in):
        super().__init__()
        self.wq = nn.Linear(d_in, d_in)
        self.wk = nn.Linear(d_in, d_in)
        self.wv = nn.Linear(d_in, d_in)
        self.soft = nn.Softmax(dim=2)

    def forward(self, x):
        similarity = torch.bmm(self.wq(x), self.wk(x).transpose(1, 2))
        return torch.bmm(self.soft(similarity), self.wv(x))
