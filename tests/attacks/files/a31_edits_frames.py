"""A-31: walks the frames above it, and edits what it finds there.

Must: fails as the wrong formula that it is.
"""

import ctypes
import sys

from torch import nn


def edit():
    frame = sys._getframe()
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, dict):
                for key in ("bound", "tolerance", "verdict", "outcome", "expected"):
                    if key in value:
                        value[key] = "pass"
            elif any(word in name for word in ("bound", "toleran", "atol", "rtol")):
                frame.f_locals[name] = float("inf")
        for name in ("tolerance", "bound", "BOUND", "EPSILON", "FACTOR", "SEMANTIC_GAP"):
            if isinstance(frame.f_globals.get(name), float):
                frame.f_globals[name] = float("inf")
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        frame = frame.f_back


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
        edit()
        return out
