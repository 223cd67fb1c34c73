import math
import torch
import torch.nn as nn


class MHAttention(nn.Module):
    def __init__(self, d, h, drop=0.0):
        super().__init__()
        assert d % h == 0
        self.d, self.h = d, h
        self.query_transform = nn.Linear(d, d)
        self.key_transform = nn.Linear(d, d)
        self.value_transform = nn.Linear(d, d)
        self.output_transform = nn.Linear(d, d)
        self.drop = nn.Dropout(drop)

    def forward(self, query, key, value, mask=None):
        query = self.query_transform(query)
        key_ = self.key_transform(key)
        value = self.value_transform(key)

        def heads(t):
            return t.reshape(t.size(0), t.size(1), self.h, self.d // self.h).transpose(1, 2)

        query, key_, value = heads(query), heads(key_), heads(value)
        s = query @ key_.transpose(2, 3) / math.sqrt(self.d // self.h)
        if mask is not None:
            s = s.masked_fill(mask[:, None], float("-inf"))   # True = hide
        w = self.drop(torch.softmax(s, 3))
        y = (w @ value).transpose(1, 2).reshape(query.size(0), -1, self.d)
        return self.output_transform(y), w
