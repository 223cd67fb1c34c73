import torch, torch.nn as nn
from einops import rearrange

class Attn(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        assert not d % h
        s.h, s.sc = h, (d//h)**-.5
        s.q, s.kv, s.o = nn.Linear(d,d,False), nn.Linear(d,2*d,False), nn.Linear(d,d,False)
    def forward(s, x, ctx=None):
        ctx = x if ctx is None else ctx
        q = s.q(x) * s.sc
        k, v = s.kv(ctx).chunk(2,-1)
        q,k,v = (rearrange(t,'b n (h d) -> b h n d',h=s.h) for t in (q,k,v))
        a = (q@k.mT * s.sc).softmax(-1)
        return s.o(rearrange(a@v,'b h n d -> b n (h d)'))
