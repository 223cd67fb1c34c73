"""python att_script_queries_normalised.py trains on a toy task."""
import random

import torch
from torch import nn


class Attend(nn.Module):
    def forward(self, q, k, v, hide):
        logits = torch.einsum("...ic,...jc->...ij", q, k) * d_head ** -0.5
        return torch.einsum("...ij,...jc->...ic", logits.masked_fill(hide, -1e20).softmax(dim=-2), v)


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(d_model, n_heads * d_head)
        self.k = nn.Linear(d_model, n_heads * d_head)
        self.v = nn.Linear(d_model, n_heads * d_head)
        self.o = nn.Linear(n_heads * d_head, d_model)
        self.attend = Attend()

    def forward(self, Q, K, V, hide):
        # hide: (batch, len_q, len_k), True where a key is not to be seen
        apart = (p(x).unflatten(2, (n_heads, d_head)).transpose(1, 2) for p, x in ((self.q, Q), (self.k, K), (self.v, V)))
        return self.o(self.attend(*apart, hide.unsqueeze(1)).transpose(1, 2).flatten(2))


def batch():
    rows = [[random.randrange(1, len(words)) for _ in range(steps)] for _ in range(samples)]
    return torch.tensor(rows)


if __name__ == "__main__":
    words = "<pad> one two three four".split()
    steps, samples = 6, 3
    n_heads = 4
    d_model = 32
    d_head = d_model // n_heads
    table = nn.Embedding(len(words), d_model)
    layer = MultiHead()
    x = table(batch())
    for _ in range(1000):
        print(layer(x, x, x, torch.zeros(samples, steps, steps, dtype=torch.bool)).pow(2).mean())
