import torch
import torch.nn as nn
import math

PAD = 0


def make_pad_mask(ids):
    """(B, L) ids -> (B, L) bool, True where there is a word"""
    return ids.ne(PAD)


class Encoder(nn.Module):
    """heads, layers and sizes as keyword arguments only, to avoid mixing them up"""

    def __init__(self, *, emb_dim, head_num, hid_dim, layer_num):
        super().__init__()
        self.head_num = head_num
        mk = lambda a, b: nn.ModuleList(nn.Linear(a, b) for _ in range(layer_num))
        self.q, self.k, self.v, self.o = (mk(emb_dim, emb_dim) for _ in range(4))
        self.f1, self.f2 = mk(emb_dim, hid_dim), mk(hid_dim, emb_dim)
        self.g1 = nn.ModuleList(nn.LayerNorm(emb_dim) for _ in range(layer_num))
        self.g2 = nn.ModuleList(nn.LayerNorm(emb_dim) for _ in range(layer_num))

    def one_layer(self, i, x, word_mask):
        B, L, D = x.shape
        q, k, v = (m[i](x).view(B, L, self.head_num, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        s = q.matmul(k.transpose(2, 3)) / math.sqrt(D // self.head_num)
        if word_mask is not None:
            s = s.masked_fill(~word_mask[:, None, :, None], -1e9)
        ctx = s.softmax(3).matmul(v).transpose(1, 2).reshape(B, L, D)
        x = self.g1[i](x + self.o[i](ctx))
        return self.g2[i](x + self.f2[i](torch.relu(self.f1[i](x))))

    def forward(self, x, word_mask=None):
        for i in range(len(self.q)):
            x = self.one_layer(i, x, word_mask)
        return x
