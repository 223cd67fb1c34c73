from typing import Optional

import torch
from torch import Tensor, nn


class SpeechAttention(nn.Module):
    """Self-attention, or onto audio features. mask: (n, n), added. Returns the output and the logits after the mask."""

    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.query, self.value, self.out = (nn.Linear(n_state, n_state) for _ in range(3))
        self.key = nn.Linear(n_state, n_state, bias=False)

    def forward(self, x: Tensor, xa: Optional[Tensor] = None, mask: Optional[Tensor] = None):
        xa = x if xa is None else xa
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(1, 2) for t in (self.query(x), self.key(xa), self.value(xa)))
        scale = q.shape[-1] ** -0.25  # on both sides, for half precision
        qk = (q * scale) @ (k * scale).mT
        if mask is not None:
            qk = qk + mask
        w = torch.softmax(qk, dim=-1)
        return self.out((w @ v).transpose(1, 2).flatten(2)), qk
