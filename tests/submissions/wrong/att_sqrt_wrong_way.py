import math
import torch
import torch.nn as nn
# implementation of section 3.2.2

class MHA(nn.Module):
    def __init__(self, dm, nh):
        super().__init__()
        assert dm % nh == 0
        self.dm = dm
        self.nh = nh
        self.dk = dm // nh
        self.WQ = nn.Linear(dm, dm)
        self.WK = nn.Linear(dm, dm)
        self.WV = nn.Linear(dm, dm)
        self.WO = nn.Linear(dm, dm)

    def forward(self, q, k, v, mask=None):
        bs, lq = q.shape[:2]
        bk, lk = k.shape[:2]
        Q = self.WQ(q).view(bs, lq, self.nh, self.dk).permute(0, 2, 1, 3)
        K = self.WK(k).view(bk, lk, self.nh, self.dk).permute(0, 2, 3, 1)
        V = self.WV(v).view(bk, lk, self.nh, self.dk).permute(0, 2, 1, 3)
        E = (Q @ K) * math.sqrt(self.dk)
        if mask is not None:
            E = E.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        A = E.softmax(dim=-1)
        O = (A @ V).permute(0, 2, 1, 3).contiguous().view(bs, lq, self.dm)
        return self.WO(O)
