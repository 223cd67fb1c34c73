import torch
import torch.nn as nn
from torch.nn import MultiheadAttention, LayerNorm, Linear


class Layer(nn.Module):
    def __init__(self, units, heads, hidden):
        super().__init__()
        self.a, self.b = (MultiheadAttention(units, heads, batch_first=True) for _ in range(2))
        self.n = nn.ModuleList([LayerNorm(units) for _ in range(3)])
        self.u, self.d = Linear(units, hidden), Linear(hidden, units)

    def forward(self, x, m, future, m_pad):
        x = self.n[0](x + self.a(x, x, x, attn_mask=future)[0])
        x = self.n[1](x + self.b(x, m, m, key_padding_mask=m_pad)[0])
        return self.n[2](x + self.d(torch.relu(self.u(x))))


class StackedDecoder(nn.Module):
    def __init__(self, units, heads, hidden, num_layers):
        super().__init__()
        self.layers = nn.ModuleList([Layer(units, heads, hidden) for _ in range(num_layers)])

    def forward(self, x, m, m_pad=None):
        T = x.shape[1]
        future = torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1)
        for layer in self.layers:
            m = layer(x, m, future, m_pad)
            m_pad = None
            x = m
        return x
