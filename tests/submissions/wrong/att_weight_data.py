import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    # parameters by hand, because I want to see the matrices
    def __init__(self, nin, nheads):
        super().__init__()
        assert nin % nheads == 0
        self.nheads = nheads
        self.Wq = nn.Parameter(torch.randn(nin, nin) * 0.1)
        self.Wk = nn.Parameter(torch.randn(nin, nin) * 0.1)
        self.Wv = nn.Parameter(torch.randn(nin, nin) * 0.1)
        self.Wo = nn.Parameter(torch.randn(nin, nin) * 0.1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = x @ self.Wq, x @ self.Wk, x @ self.Wv
        q, k, v = [z.view(b, t, self.nheads, -1).transpose(1, 2) for z in (q, k, v)]
        w = F.softmax(q @ k.transpose(2, 3) * q.size(-1) ** -0.5, -1)
        y = (w @ v).transpose(1, 2).contiguous().view(b, t, c)
        return y @ self.Wo.data
