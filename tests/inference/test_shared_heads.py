"""How many heads keys and values have, wherever a file says it: it is built with fewer, and judged so."""

from pathlib import Path

import pytest
import torch

import attnconf
from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

pytestmark = pytest.mark.long

torch.set_num_threads(1)
FILE = """
from dataclasses import dataclass
import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Sizes:
    width: int = 64
    n_heads: int = 8
    n_kv_heads: int = 2


class SharedAttention(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {start}
        self.h, self.kv, self.d = n_heads, n_kv_heads, width // n_heads
        self.q, self.o = nn.Linear(width, width), nn.Linear(width, width)
        self.k, self.v = nn.Linear(width, self.kv * self.d), nn.Linear(width, self.kv * self.d)

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (-1, self.d)).transpose(1, 2) for f in (self.q, self.k, self.v))
        {shared}
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
"""
LAYER = """

class Block(nn.Module):
    def __init__(self, width, n_heads, n_kv_heads, hidden):
        super().__init__()
        self.attention = SharedAttention(width, n_heads, n_kv_heads)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.up(self.norm2(x)).relu())
"""
ENTRIES = "width, n_heads, n_kv_heads = {0}.width, {0}.n_heads, {0}.n_kv_heads"
SAID = {  # where the number stands: parameters, and the first line of the constructor
    "required": ("width, n_heads, n_kv_heads", "pass"),
    "a number by default": ("width, n_heads, n_kv_heads=2", "pass"),
    "as many by default": ("width, n_heads, n_kv_heads=None", "n_kv_heads = n_kv_heads or n_heads"),
    "a dataclass": ("sizes: Sizes", ENTRIES.format("sizes")),
    "a namespace": ("config", ENTRIES.format("config")),
    "queries for each": ("width, n_heads, n_groups", "n_kv_heads = n_heads // n_groups"),
}
SIDE_BY_SIDE = "k, v = (x.repeat_interleave(self.h // self.kv, dim=1) for x in (k, v))"
IN_TURN = "k, v = (x.repeat(1, self.h // self.kv, 1, 1) for x in (k, v))"
NOT_AT_ALL = "pass"
BY_THEIR_MEAN = f"v = v.mean(1, keepdim=True).expand(k.shape) if self.kv < self.h else v; {SIDE_BY_SIDE}"
REFUSED = "assert n_heads == n_kv_heads, 'as many heads of keys as of queries'"


def written(folder, said="required", shared=SIDE_BY_SIDE, start=""):
    """Return the path of a class of which the number of shared heads is said so, and that shares them so."""
    parameters, first = SAID[said]
    path = Path(folder) / "homework.py"
    path.write_text(FILE.format(parameters=parameters, start=start or first, shared=shared), encoding="utf-8")
    return path


def inferred(path):
    (found,), _ = inference.bindings(read(path), None, None)
    return found


@pytest.mark.parametrize("said", SAID)
def test_it_is_built_with_fewer_heads_of_keys_wherever_that_is_said(tmp_path, said):
    found = inferred(written(tmp_path, said))
    assert found.certified == "reference"
    assert found.draft.declares["kv-heads"] == "grouped"
    assert "config.num_kv_heads or config.num_heads" in found.draft.body
    assert any("num_kv_heads or num_heads" in line for line in found.told if line.startswith("constructor"))


@pytest.mark.parametrize("said", ["required", "a dataclass", "queries for each"])
def test_heads_that_come_in_turn_are_found_and_named(tmp_path, said):
    report = attnconf.check(written(tmp_path, said, IN_TURN), select="FAM-GROUP")
    (verdict,) = report.record["verdicts"]
    named = {m for r in report.record["results"] for d in r["diagnosis"] for m in d["mutants"]}
    assert (verdict["verdict"], named) == ("nonconformant", {"FAM-heads-tiled"})


def test_what_nobody_knows_is_recognised_no_more(tmp_path):
    (verdict,) = attnconf.check(written(tmp_path, shared=BY_THEIR_MEAN), select="FAM-GROUP").record["verdicts"]
    assert verdict["verdict"] == "unrecognised"


def test_fewer_heads_that_are_refused_are_not_asked_for_and_the_header_says_so(tmp_path):
    found = inferred(written(tmp_path, start=REFUSED))
    assert "num_kv_heads" not in found.draft.body
    assert "kv-heads" not in found.draft.declares
    assert any(line.startswith("left alone   n_kv_heads: fewer heads of keys") for line in found.told)
    assert found.open_ends == ()


def test_fewer_heads_that_nothing_shares_leave_the_verdict_open(tmp_path):
    found = inferred(written(tmp_path, shared=NOT_AT_ALL))
    assert "kv-heads" not in found.draft.declares
    assert ["n_kv_heads" in words and "raises" in words for words in found.open_ends] == [True]


def test_a_layer_is_built_with_fewer(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8") + LAYER, encoding="utf-8")
    found, _ = inference.bindings(read(path), None, None)
    (layer,) = (b for b in found if b.draft.component == "encoder_layer")
    assert layer.certified == "reference"
    assert layer.draft.declares["kv-heads"] == "grouped"
    assert not any("fewer heads of keys" in line for line in layer.told)
