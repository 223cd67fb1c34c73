import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    '''returns (output, attention of every head)'''

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_k, rest = divmod(d_model, n_heads)
        assert rest == 0
        self.qw = nn.Linear(d_model, d_model)
        self.kw = nn.Linear(d_model, d_model)
        self.vw = nn.Linear(d_model, d_model)
        self.ow = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        b = q.size(0)
        q = self.qw(q).view(b, q.size(1), self.n_heads, self.d_k).transpose(1, 2)
        k = self.kw(k).view(b, k.size(1), self.n_heads, self.d_k).transpose(1, 2)
        v = self.vw(v).view(b, v.size(1), self.n_heads, self.d_k).transpose(1, 2)
        attention = q @ k.transpose(-2, -1) / self.d_k ** 0.5
        if mask is not None:
            attention = attention.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        x = torch.softmax(attention, dim=-1) @ v
        x = x.transpose(1, 2).reshape(b, -1, self.n_heads * self.d_k)
        return self.ow(x), attention
