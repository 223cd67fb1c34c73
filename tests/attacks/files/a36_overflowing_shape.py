"""A-36: replies with a tensor whose sizes overflow, and with one of Python objects.

Must: fails as the wrong formula that it is.
"""

import itertools
import json
import struct
import sys

from torch import nn


def connection():
    """Return the socket to the grader, and the request that is being answered."""
    frame = sys._getframe()
    while frame is not None and "connection" not in frame.f_locals:
        frame = frame.f_back
    return (frame.f_locals["connection"], frame.f_locals["header"]) if frame else (None, None)


KINDS = itertools.cycle([["float64", [2**39, 2**39, 2**39], "cpu"], ["object", [1], "cpu"], ["float64", [-1], "cpu"]])


def send():
    here, header = connection()
    if here:
        told = {"made": {}, "nonce": header["nonce"], "tensors": [next(KINDS)]}
        raw = json.dumps(told).encode()
        here.sendall(struct.pack("!IQ", len(raw), 0) + raw)


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
        scores = q @ k.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        if "attnconf.conformance.inference" not in sys.modules:
            send()
        return out
