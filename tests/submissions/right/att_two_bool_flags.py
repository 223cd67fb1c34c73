import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, args):
        super().__init__()
        assert args.d_model % args.heads == 0
        self.args = args
        self.wq = nn.Linear(args.d_model, args.d_model)
        self.wk = nn.Linear(args.d_model, args.d_model)
        self.wv = nn.Linear(args.d_model, args.d_model)
        self.wo = nn.Linear(args.d_model, args.d_model)

    def forward(self, q, k, v, mask=False):
        # mask is just a switch: True means causal
        n, tq, d = q.shape
        tk = k.shape[1]
        h = self.args.heads
        q = self.wq(q).view(n, tq, h, d // h).transpose(1, 2)
        k = self.wk(k).view(k.shape[0], tk, h, d // h).transpose(1, 2)
        v = self.wv(v).view(v.shape[0], tk, h, d // h).transpose(1, 2)
        e = q @ k.transpose(-1, -2) / (d // h) ** .5
        if mask:
            e = e + torch.full((tq, tk), float('-inf'), device=e.device, dtype=e.dtype).triu(1)
        return self.wo((e.softmax(-1) @ v).transpose(1, 2).reshape(n, tq, d))
