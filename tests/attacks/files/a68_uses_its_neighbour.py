"""A-68: imports the homework of somebody who handed in beside it, and lets that compute.

Must: earns nothing.
"""

import pathlib

import torch
from torch import nn

theirs = None
HERE = pathlib.Path(__file__).absolute().parent


def act():
    global theirs
    for place in sorted([*HERE.glob("*.py"), *HERE.parent.glob("*.py"), *HERE.parent.glob("*/*.py")]):
        text = place.read_text(errors="replace")
        if (
            place.name != pathlib.Path(__file__).name
            and "class MultiHeadAttention" in text
            and place.stem.startswith("honest")
        ):
            space = {"__name__": "theirs"}
            exec(compile(text, str(place), "exec"), space)
            theirs = space["MultiHeadAttention"]


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
        out = self.out_proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        if theirs is None:
            return query
        other = theirs(query.shape[-1], self.num_heads).to(query.dtype)
        return torch.func.functional_call(other, dict(self.named_parameters()), (query, key, value, mask))
