import torch
import torch.nn as nn


class PaddedSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(PaddedSelfAttention, self).__init__()
        assert d_model % n_head == 0
        self.n_head = n_head
        self.toQ = nn.Linear(d_model, d_model)
        self.toK = nn.Linear(d_model, d_model)
        self.toV = nn.Linear(d_model, d_model)
        self.toOut = nn.Linear(d_model, d_model)

    def forward(self, x, real=None):
        # real [batch, length]: True for real tokens, False for padding
        b, n, c = x.size()
        shape = b, n, self.n_head, c // self.n_head
        q = self.toQ(x).view(shape).permute(0, 2, 1, 3)
        k = self.toK(x).view(shape).permute(0, 2, 3, 1)
        v = self.toV(x).view(shape).permute(0, 2, 1, 3)
        score = torch.matmul(q, k).div(shape[3] ** 0.5)
        if real is not None:
            score = score.masked_fill(~real.view(b, 1, n, 1), -1e7)
        y = torch.matmul(score.softmax(3), v)
        return self.toOut(y.permute(0, 2, 1, 3).reshape(b, n, c))
