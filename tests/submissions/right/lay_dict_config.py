import math
import torch
import torch.nn as nn

cfg = {
    "hidden": 48,
    "num_attention_heads": 4,
    "ffn": 100,
    "num_layers": 3,
    "p_drop": 0.1,
}


class MHSA(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.H = cfg["num_attention_heads"]
        self.heads_q = nn.ModuleList([nn.Linear(cfg["hidden"], cfg["hidden"] // self.H) for _ in range(self.H)])
        self.heads_k = nn.ModuleList([nn.Linear(cfg["hidden"], cfg["hidden"] // self.H) for _ in range(self.H)])
        self.heads_v = nn.ModuleList([nn.Linear(cfg["hidden"], cfg["hidden"] // self.H) for _ in range(self.H)])
        self.out = nn.Linear(cfg["hidden"], cfg["hidden"])
        self.do = nn.Dropout(cfg["p_drop"])

    def forward(self, x, mask):
        contexts, maps = [], []
        for q, k, v in zip(self.heads_q, self.heads_k, self.heads_v):
            s = q(x).bmm(k(x).transpose(1, 2)) / math.sqrt(q.out_features)
            if mask is not None:
                s = s.masked_fill(mask[:, None, :] == 0, -1e9)
            w = torch.softmax(s, -1)
            maps.append(w)
            contexts.append(self.do(w).bmm(v(x)))
        return self.out(torch.cat(contexts, -1)), torch.stack(maps, 1)


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.att = MHSA(cfg)
        self.n1, self.n2 = nn.LayerNorm(cfg["hidden"]), nn.LayerNorm(cfg["hidden"])
        self.up, self.down = nn.Linear(cfg["hidden"], cfg["ffn"]), nn.Linear(cfg["ffn"], cfg["hidden"])
        self.do = nn.Dropout(cfg["p_drop"])

    def forward(self, x, mask=None):
        y, w = self.att(x, mask)
        x = self.n1(x + self.do(y))
        x = self.n2(x + self.do(self.down(torch.relu(self.up(x)))))
        return x, w


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.blocks = nn.ModuleList([Layer(cfg) for _ in range(cfg["num_layers"])])

    def forward(self, x, mask=None):
        """mask: (batch, time), 1 = word, 0 = padding. Gives the states and all attention maps."""
        all_maps = []
        for blk in self.blocks:
            x, w = blk(x, mask)
            all_maps.append(w)
        return x, all_maps
