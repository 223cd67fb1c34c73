import torch
import torch.nn as nn


class MultiHead(nn.Module):
    def __init__(self, size, n_head, p_drop=0.0):
        super().__init__()
        self.n_head = n_head
        self.linears = nn.ModuleList([nn.Linear(size, size) for _ in range(4)])
        self.p_drop = nn.Dropout(p_drop)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_head, -1).transpose(1, 2)

    def forward(self, query, key, value, attn_mask=None):
        """Attention of several heads.

        Args:
            query, key, value: (batch, length, size)
            attn_mask: (queries, keys); booleans are True where a query may not look,
                floats are added to the scores.
        """
        q, k, v = (self.split(f(x)) for f, x in zip(self.linears, (query, key, value)))
        scores = torch.matmul(q, k.transpose(2, 3)) / q.size(-1) ** 0.5
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(attn_mask, float("-inf"))
            else:
                scores = scores + attn_mask
        y = torch.matmul(self.p_drop(scores.softmax(-1)), v)
        return self.linears[3](y.transpose(1, 2).reshape(query.shape))
