import torch
from torch import nn

# --- settings ---
CH = 32
T_MAX = 16


class SmallHead(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.a = nn.Linear(CH, size, bias=False)   # asks
        self.b = nn.Linear(CH, size, bias=False)   # answers
        self.c = nn.Linear(CH, size, bias=False)   # content
        self.register_buffer('past', torch.ones(T_MAX, T_MAX).tril())

    def forward(self, x):
        t, ch = x.shape[1:]
        m = self.a(x) @ self.b(x).transpose(1, 2)
        m = m * ch ** -0.5
        m = m.masked_fill(self.past[:t, :t] == 0, -torch.inf).softmax(2)
        return m @ self.c(x)


class Heads(nn.Module):
    def __init__(self, how_many):
        super().__init__()
        assert CH % how_many == 0
        self.all = nn.ModuleList(SmallHead(CH // how_many) for _ in range(how_many))
        self.last = nn.Linear(CH, CH)

    def forward(self, x):
        return self.last(torch.cat([h(x) for h in self.all], dim=2))
