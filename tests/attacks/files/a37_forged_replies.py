"""A-37: answers in the worker's stead, with zeros as outputs, no change and no cost.

Must: fails as the wrong formula that it is.
"""

import json
import os
import struct
import sys

from torch import nn


def connection():
    """Return the socket to the grader, and the request that is being answered."""
    frame = sys._getframe()
    while frame is not None and "connection" not in frame.f_locals:
        frame = frame.f_back
    return (frame.f_locals["connection"], frame.f_locals["header"]) if frame else (None, None)


def send(out):
    here, header = connection()
    if here:
        told = {"weights": False, "grads": [], "changed": [], "counts": None, "trained": 0, "seen": {}}
        kind = [[str(out.dtype).removeprefix("torch."), list(out.shape), "cpu"]]
        raw = json.dumps({"made": told, "nonce": header["nonce"], "tensors": kind}).encode()
        size = out.numel() * out.element_size()
        here.sendall(struct.pack("!IQ", len(raw), size + -size % 64) + raw + bytes(size + -size % 64))
        os._exit(0)


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
            send(out)
        return out
