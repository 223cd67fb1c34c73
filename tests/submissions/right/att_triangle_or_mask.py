import math

import torch
import torch.nn as nn


class HeadsOverTokens(nn.Module):
    # mask: True where a token may look, one for all heads
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head, self.size = n_head, n_embd // n_head
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(n_embd, n_embd) for _ in range(4))

    def heads(self, x):
        return x.unflatten(-1, (self.n_head, self.size)).transpose(1, 2)

    def forward(self, x, mask=None, causal=False):
        if causal and mask is not None:
            raise ValueError("a mask or causal=True, not both: put the triangle into the mask")
        if causal:
            mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
        elif mask is not None:
            mask = mask[:, None]
        att = self.heads(self.wq(x)) @ self.heads(self.wk(x)).mT / math.sqrt(self.size)
        if mask is not None:
            att = att.where(mask, -torch.inf)
        y = att.softmax(-1) @ self.heads(self.wv(x))
        return self.wo(y.transpose(1, 2).flatten(-2))
