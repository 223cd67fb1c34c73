"""Everything in this repo is time-major: [T, B, C]. No exceptions!"""
import torch
from torch import nn


class TimeMajorAttention(nn.Module):
    def __init__(self, channels, nheads):
        super().__init__()
        assert channels % nheads == 0
        self.nheads = nheads
        self.Wq = nn.Linear(channels, channels)
        self.Wk = nn.Linear(channels, channels)
        self.Wv = nn.Linear(channels, channels)
        self.Wo = nn.Linear(channels, channels)

    def forward(self, q, k, v, attn_mask=None):
        # attn_mask [Tq, Tk], bool, True = not allowed
        Tq, B, C = q.shape
        Tk = k.shape[0]
        hs = C // self.nheads
        # fold the heads into the batch, [B*H, T, hs]
        Q = self.Wq(q).reshape(Tq, B * self.nheads, hs).transpose(0, 1)
        K = self.Wk(k).reshape(Tk, k.shape[1] * self.nheads, hs).transpose(0, 1)
        V = self.Wv(v).reshape(Tk, v.shape[1] * self.nheads, hs).transpose(0, 1)
        S = torch.bmm(Q, K.transpose(1, 2)) * hs ** -0.5
        if attn_mask is not None:
            S = S.masked_fill(attn_mask, -torch.inf)
        ctx = torch.bmm(S.softmax(2), V)
        return self.Wo(ctx.transpose(0, 1).reshape(Tq, B, C))
