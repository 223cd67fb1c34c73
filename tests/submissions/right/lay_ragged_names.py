import torch as t
import torch.nn as nn

class SelfAtt(nn.Module):
    def __init__(self, emb, h):
        super().__init__()
        self.emb, self.h = emb, h
        self.toqueries = nn.Linear(emb, emb, bias=False)
        self.tokeys    = nn.Linear(emb, emb, bias=False)
        self.tovalues  = nn.Linear(emb, emb, bias=False)
        self.unify     = nn.Linear(emb, emb)

    def forward(self, x):
        b, n, e = x.size(); h = self.h; s = e // h
        # fold heads into the batch
        q = self.toqueries(x).view(b, n, h, s).transpose(1, 2).reshape(b * h, n, s)
        k = self.tokeys(x).view(b, n, h, s).transpose(1, 2).reshape(b * h, n, s)
        v = self.tovalues(x).view(b, n, h, s).transpose(1, 2).reshape(b * h, n, s)
        # scale both before the product, saves memory
        w = t.bmm(q / s ** .25, (k / s ** .25).transpose(1, 2)).softmax(dim=2)
        y = t.bmm(w, v).view(b, h, n, s).transpose(1, 2).reshape(b, n, e)
        return self.unify(y)

class TBlock(nn.Module):
    def __init__(self, heads, emb, ff_hidden_mult=4):
        super().__init__()
        self.att = SelfAtt(emb, heads)
        self.norm1, self.norm2 = nn.LayerNorm(emb), nn.LayerNorm(emb)
        self.ff = nn.Sequential(nn.Linear(emb, ff_hidden_mult * emb), nn.ReLU(), nn.Linear(ff_hidden_mult * emb, emb))

    def forward(self, x):
        x = self.norm1(self.att(x) + x)
        return self.norm2(self.ff(x) + x)

class Stack(nn.Module):
    def __init__(self, heads, emb, depth):
        super().__init__()
        self.tblocks = nn.Sequential(*[TBlock(heads, emb) for _ in range(depth)])

    def forward(self, x):
        return self.tblocks(x)
