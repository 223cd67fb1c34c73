# speech encoder/decoder attention as I understand it, without the cache
from typing import Optional, Tuple

import torch
from torch import Tensor, nn


class SpeechAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        if n_state % n_head:
            raise ValueError(f"{n_state} / {n_head}")
        self.n_head = n_head
        self.lq = nn.Linear(n_state, n_state)
        self.lk = nn.Linear(n_state, n_state, bias=False)
        self.lv = nn.Linear(n_state, n_state)
        self.lo = nn.Linear(n_state, n_state)

    def forward(self, x: Tensor, xa: Optional[Tensor] = None, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        """xa: other sequence to attend to (else x). mask: added, at least as large as needed, is cut."""
        source = x if xa is None else xa
        q, k, v = (self.heads(t) for t in (self.lq(x), self.lk(source), self.lv(source)))
        # both sides get the fourth root
        root = q.shape[-1] ** -0.25
        s = (q * root) @ (k * root).transpose(-1, -2)
        if mask is not None:
            s = s + mask[: s.shape[-2], : s.shape[-1]]
        w = torch.softmax(s, dim=-1)
        return self.lo((w @ v).transpose(1, 2).flatten(2)), w

    def heads(self, t: Tensor) -> Tensor:
        b, n, c = t.shape
        return t.view(b, n, self.n_head, c // self.n_head).transpose(1, 2)
