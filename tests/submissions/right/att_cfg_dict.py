import torch
import torch.nn as nn

SMALL = {'emb_dim': 36, 'n_heads': 6, 'drop_rate': 0.0, 'qkv_bias': False, 'context_length': 128}


class MHA(nn.Module):
    def __init__(self, cfg=SMALL):
        super().__init__()
        d, self.h = cfg['emb_dim'], cfg['n_heads']
        assert d % self.h == 0, 'emb_dim % n_heads'
        self.qkv = nn.ModuleDict({c: nn.Linear(d, d, bias=cfg['qkv_bias']) for c in 'qkv'})
        self.out = nn.Linear(d, d)
        self.drop = nn.Dropout(cfg['drop_rate'])
        n = cfg['context_length']
        self.register_buffer('hidden', torch.ones(n, n, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (self.qkv[c](x).view(b, n, self.h, d // self.h).transpose(1, 2) for c in 'qkv')
        sc = q @ k.transpose(2, 3)
        sc.masked_fill_(self.hidden[:n, :n], -torch.inf)
        w = self.drop(torch.softmax(sc / (d // self.h) ** 0.5, dim=-1))
        return self.out((w @ v).transpose(1, 2).reshape(b, n, d))
