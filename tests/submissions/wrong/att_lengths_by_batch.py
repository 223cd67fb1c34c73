# Translation model, attention part. Heads are folded into the batch: everything below works on (batch * heads, ...).
from typing import Optional

import torch
from torch import Tensor, nn


def fold(t: Tensor, n: int) -> Tensor:
    b, s, e = t.shape
    return t.view(b, s, n, e // n).transpose(1, 2).reshape(b * n, s, e // n)


def unfold(t: Tensor, n: int) -> Tensor:
    bn, s, d = t.shape
    return t.view(bn // n, n, s, d).transpose(1, 2).reshape(bn // n, s, n * d)


class FoldedAttention(nn.Module):
    def __init__(self, model_dim: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.query_map = nn.Linear(model_dim, model_dim)
        self.key_map = nn.Linear(model_dim, model_dim)
        self.value_map = nn.Linear(model_dim, model_dim)
        self.output_map = nn.Linear(model_dim, model_dim)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_lengths: Optional[Tensor] = None) -> Tensor:
        """key_lengths: (batch,), how many keys of each sentence are words."""
        q, k, v = (
            fold(part(x), self.num_heads)
            for part, x in ((self.query_map, query), (self.key_map, key), (self.value_map, value))
        )
        energies = torch.baddbmm(q.new_zeros(1, 1, 1), q, k.mT, alpha=q.size(-1) ** -0.5)
        if key_lengths is not None:
            per_head = key_lengths.repeat(self.num_heads)
            is_word = torch.arange(k.size(1), device=k.device)[None] < per_head[:, None]
            energies = energies.masked_fill(~is_word[:, None, :], -torch.inf)
        return self.output_map(unfold(torch.bmm(energies.softmax(dim=-1), v), self.num_heads))
