import torch
import torch.nn as nn
import torch.nn.functional as F


class LoopAttention(nn.Module):
    """never builds the concatenation: W_O is applied head by head and the results are summed"""

    def __init__(self, width, count):
        super().__init__()
        assert width % count == 0
        self.count, self.size = count, width // count
        self.wq = nn.Linear(width, width)
        self.wk = nn.Linear(width, width)
        self.wv = nn.Linear(width, width)
        self.wo = nn.Linear(width, width)

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        q, k, v = self.wq(x), self.wk(memory), self.wv(memory)
        total = 0
        for h in range(self.count):
            cut = slice(h * self.size, (h + 1) * self.size)
            w = F.softmax(q[..., cut] @ k[..., cut].transpose(1, 2) / self.size ** 0.5, dim=-1)
            total = total + F.linear(w @ v[..., cut], self.wo.weight[:, cut], self.wo.bias)
        return total
