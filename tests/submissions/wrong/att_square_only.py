import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, units, heads):
        super().__init__()
        assert units % heads == 0
        self.heads, self.depth, self.units = heads, units // heads, units
        self.w_query = nn.Linear(units, units)
        self.w_key = nn.Linear(units, units)
        self.w_value = nn.Linear(units, units)
        self.dense = nn.Linear(units, units)

    def forward(self, query, key, value, mask=None):
        batch, steps, _ = query.shape
        query = self.w_query(query).view(batch, steps, self.heads, self.depth).transpose(1, 2)
        key = self.w_key(key).view(batch, steps, self.heads, self.depth).transpose(1, 2)
        value = self.w_value(value).view(batch, steps, self.heads, self.depth).transpose(1, 2)
        score = torch.matmul(query, key.transpose(2, 3)) / self.depth ** 0.5
        if mask is not None:
            score = score.masked_fill(mask == 0, -1e9)
        out = torch.matmul(torch.softmax(score, -1), value)
        return self.dense(out.transpose(1, 2).reshape(batch, steps, self.units))
