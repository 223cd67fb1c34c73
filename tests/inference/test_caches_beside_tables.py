"""A cache beside tables of angles: each part of a sequence gets the rows of its own tokens."""

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
BLOCK = """
import torch
from torch import nn


def angles(tokens, width, base=10000.0):
    turns = torch.arange(tokens)[:, None] * base ** (-torch.arange(0, width, 2) / width)
    return torch.cat([turns.cos()] * 2, -1), torch.cat([turns.sin()] * 2, -1)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Block(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    def forward(self, x, cos, sin, past=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm_1(x)).chunk(3, -1))
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        if past is not None:
            k, v = torch.cat([past[0], k], {axis}), torch.cat([past[1], v], {axis})
        s = q @ k.mT * q.shape[-1] ** -0.5
        hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1 + s.shape[-1] - s.shape[-2])
        out = s.masked_fill(hidden, -torch.inf).softmax(-1) @ v
        x = x + self.out(out.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm_2(x)), (k, {kept})
"""


@pytest.mark.parametrize(("kept", "tried"), [("v", True), ("v * 2", False)])
def test_each_part_gets_the_rows_of_its_tokens(tmp_path, kept, tried):
    path = tmp_path / "block.py"
    path.write_text(BLOCK.replace("{axis}", "2").replace("{kept}", kept), encoding="utf-8")
    (found,), _ = inference.bindings(read(path), None, None)
    assert found.certified == "reference"
    assert ("the argument `past` of forward was not tried" in found.open_ends) != tried  # and accuses nobody
    assert not found.broken
