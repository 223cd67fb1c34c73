import torch
from torch import nn


class Attention(nn.Module):
    """returns context and attention probabilities"""

    def __init__(self, hidden, n_heads):
        super().__init__()
        assert hidden % n_heads == 0
        self.n_heads = n_heads
        self.proj_q, self.proj_k, self.proj_v, self.proj_o = (nn.Linear(hidden, hidden) for _ in range(4))
        self.prob = nn.Softmax(dim=-1)

    def scores(self, q, k, keep):
        s = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
        if keep is not None:
            s = s.masked_fill(~keep[:, None], float("-inf"))
        return self.prob(s)

    def forward(self, x, y, keep=None):
        f = lambda t: t.view(t.size(0), t.size(1), self.n_heads, -1).transpose(1, 2)
        q, k, v = f(self.proj_q(x)), f(self.proj_k(y)), f(self.proj_v(y))
        probs = self.prob(self.scores(q, k, keep))
        return self.proj_o((probs @ v).transpose(1, 2).flatten(2)), probs
