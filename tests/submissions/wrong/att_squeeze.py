import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, emb_size, n_heads):
        super().__init__()
        assert emb_size % n_heads == 0
        self.n_heads = n_heads
        self.wq = nn.Linear(emb_size, emb_size)
        self.wk = nn.Linear(emb_size, emb_size)
        self.wv = nn.Linear(emb_size, emb_size)
        self.wo = nn.Linear(emb_size, emb_size)

    def forward(self, x, context):
        heads = []
        for q, k, v in zip(self.wq(x).chunk(self.n_heads, -1), self.wk(context).chunk(self.n_heads, -1), self.wv(context).chunk(self.n_heads, -1)):
            w = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5, dim=-1)
            heads.append(torch.bmm(w, v))
        out = torch.stack(heads, dim=2)            # B, L, H, d
        out = out.flatten(2).squeeze()
        return self.wo(out)
