"""A-37: replies when it is imported, before anything was asked, and with a guessed nonce.

Must: fails as the wrong formula that it is.
"""

import json
import os
import stat
import struct

from torch import nn


def act():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                raw = json.dumps({"done": True, "nonce": "0" * 16, "tensors": []}).encode()
                os.write(number, (struct.pack("!IQ", len(raw), 0) + raw) * 4)
        except OSError:
            pass


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
        scores = q @ k.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
