import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, embed_size, heads):
        super(Attention, self).__init__()
        assert embed_size % heads == 0, "embed_size must be a multiple of heads"
        self.embed_size = embed_size
        self.heads = heads
        # no bias on these three
        self.to_values = nn.Linear(embed_size, embed_size, bias=False)
        self.to_keys = nn.Linear(embed_size, embed_size, bias=False)
        self.to_queries = nn.Linear(embed_size, embed_size, bias=False)
        self.finish = nn.Linear(embed_size, embed_size)

    def cut(self, x):
        # N x length x embed -> N x length x heads x part
        return x.reshape(x.shape[0], x.shape[1], self.heads, self.embed_size // self.heads)

    def forward(self, values, keys, query, mask):
        V = self.cut(self.to_values(values))
        K = self.cut(self.to_keys(keys))
        Q = self.cut(self.to_queries(query))
        # n: batch, h: head, x: query position, y: key position
        e = torch.einsum("nxhp,nyhp->nhxy", Q, K)
        if mask is not None:
            e = e.masked_fill(mask == 0, -1e20)
        e = torch.softmax(e / (Q.shape[3] ** (1 / 2)), dim=3)
        mixed = torch.einsum("nhxy,nyhp->nxhp", e, V)
        return self.finish(mixed.flatten(start_dim=2))
