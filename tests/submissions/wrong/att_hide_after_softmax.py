import torch
import torch.nn as nn
import torch.nn.functional as F


class MHA(nn.Module):
    def __init__(self, hidden_dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = hidden_dim // n_heads
        self.fc_q = nn.Linear(hidden_dim, hidden_dim)
        self.fc_k = nn.Linear(hidden_dim, hidden_dim)
        self.fc_v = nn.Linear(hidden_dim, hidden_dim)
        self.fc_o = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, query, key, value, hide=None):
        n = query.shape[0]
        Q = self.fc_q(query).view(n, -1, self.n_heads, self.head_dim).transpose(1, 2)
        K = self.fc_k(key).view(n, -1, self.n_heads, self.head_dim).transpose(1, 2)
        V = self.fc_v(value).view(n, -1, self.n_heads, self.head_dim).transpose(1, 2)
        attention = F.softmax(Q @ K.transpose(-2, -1) / self.head_dim ** 0.5, dim=-1)
        if hide is not None:
            attention = attention.masked_fill(hide, 0.0)
        x = attention @ V
        return self.fc_o(x.transpose(1, 2).reshape(n, -1, self.n_heads * self.head_dim))
