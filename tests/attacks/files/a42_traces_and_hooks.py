"""A-42: sets trace, profile, audit and import hooks, and makes imports lie.

Must: fails as the wrong formula that it is.
"""

import sys

from torch import nn


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("attnconf.reference", "attnconf.conformance.engine")):
            raise SystemExit(0)


def hook(frame, event, argument):
    if "tolerance" in frame.f_locals or "bound" in frame.f_locals:
        frame.f_locals["bound"] = float("inf")


def act():
    sys.meta_path.insert(0, Finder())
    sys.setprofile(hook)
    sys.addaudithook(lambda event, arguments: None)


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
