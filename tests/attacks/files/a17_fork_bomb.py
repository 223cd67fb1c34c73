"""A-17: forks processes that fork (20 at most, asleep).

Must: passes, and the rest does not matter.
"""

import os
import sys

from torch import nn


def forked(depth):
    for _ in range(2):
        if os.fork() == 0:
            if depth:
                forked(depth - 1)
            os.execv(sys.executable, [sys.executable, "-c", CODE])


CODE = "import time; time.sleep(60)  # attnconf-attack a17_fork_bomb"


def act():
    if "attnconf.conformance.inference" not in sys.modules:
        forked(2)


class MultiHeadAttention(nn.Module):
    act()

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
