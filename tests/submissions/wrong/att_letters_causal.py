import torch, torch.nn as nn

class A(nn.Module):
    # attention. q: b,i,d  k: b,j,d  m: bool b,i,j (1 = look)  c: causal
    def __init__(s, d, h):
        super().__init__()
        s.h = h
        s.q, s.k, s.v, s.o = (nn.Linear(d, d) for _ in 'qkvo')

    def forward(s, q, k=None, m=None, c=False):
        k = q if k is None else k
        (b, i, d), j = q.shape, k.shape[1]
        f = lambda w, x: w(x).view(b, -1, s.h, d // s.h).transpose(1, 2)
        Q, K, V = f(s.q, q), f(s.k, k), f(s.v, k)
        a = Q @ K.mT / (d // s.h) ** .5
        m = torch.ones(b, i, j, dtype=torch.bool) if m is None else m
        if c:
            m &= torch.ones(i, j, dtype=torch.bool).tril()
        a = a.masked_fill(~m[:, None], -1e9)
        return s.o((a.softmax(-1) @ V).transpose(1, 2).reshape(b, i, d))
