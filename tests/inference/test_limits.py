"""What a class does not take, each alone being right, is a limit that is said: two options together, another length."""

from pathlib import Path

import pytest
import torch
from torch import nn

from attnconf.adapters.generated import for_each_length
from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
TEXT = """
import torch
from torch import nn
import torch.nn.functional as F

class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, {length}):
        super().__init__()
        self.n = n_heads
        self.w, self.o = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.register_buffer("seen", torch.ones({length}, {length}).tril().bool())

    def forward(self, x, mask=None, is_causal=False):
        if mask is not None and is_causal:
            {both}
        q, k, v = self.w(x).unflatten(-1, (3, self.n, -1)).permute(2, 0, 3, 1, 4)
        if is_causal:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.seen{cut})
        else:
            y = F.scaled_dot_product_attention(q, k, v, mask)
        return self.o(y.transpose(1, 2).flatten(2))
"""


def inferred(tmp_path, **parts):
    path = tmp_path / "mine.py"
    path.write_text(TEXT.format(**{"length": "max_len", "cut": "[:x.size(1), :x.size(1)]", "both": "pass"} | parts))
    ((found,), _) = inference.bindings(read(path), None, None)
    assert found.established
    return found, " ".join(" ".join(found.told).split())


REFUSED = "no mask beside the flag for causality"


@pytest.mark.parametrize("both", ["raise ValueError('one of them')", "assert False, 'one of them'"])
def test_a_mask_that_is_refused_beside_the_flag_is_a_limit(tmp_path, both):
    found, told = inferred(tmp_path, both=both)
    assert REFUSED in told
    assert "config.causal and (key_mask is not None or attn_mask is not None" in found.draft.body


@pytest.mark.parametrize("both", ["pass", "mask.no_such_method()"])
def test_a_mask_that_is_ignored_or_breaks_beside_the_flag_is_none(tmp_path, both):
    found, told = inferred(tmp_path, both=both)
    assert REFUSED not in told
    assert "config.causal and (" not in found.draft.body


@pytest.mark.parametrize("length", ["seq_len", "num_tokens", "block_size"])
def test_a_triangle_that_is_never_cut_takes_one_length(tmp_path, length):
    found, told = inferred(tmp_path, length=length, cut="")
    assert f"{length}=length" in told
    assert f"one length only: {length} is that of the inputs" in told
    assert "for_each_length(" in found.draft.body


@pytest.mark.parametrize(("length", "cut"), [("max_len", ""), ("longest", ""), ("seq_len", "[:x.size(1), :x.size(1)]")])
def test_a_maximum_and_what_is_cut_are_built_once(tmp_path, length, cut):
    found, told = inferred(tmp_path, length=length, cut=cut)
    assert "one length only" not in told
    assert f"{length}=256" in found.draft.body


def test_two_lengths_are_refused_where_causality_takes_one():
    ((found,), _) = inference.bindings(read(SUBMISSIONS / "right/att_context_told.py"), None, None)
    assert "if config.causal and query.shape[1] != key.shape[1]:" in found.draft.body


class Counting(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.length, self.calls = length, 0

    def forward(self, x, *, more=0):
        assert x.shape[1] == self.length
        self.calls += 1
        return self.layer(x) * self.calls + more


def test_one_module_is_built_for_each_length_and_keeps_what_it_keeps():
    made = for_each_length(Counting)
    short, long = torch.ones(1, 2, 3), torch.ones(1, 5, 3)
    first, again, other = made(short), made(x=short), made(long, more=1)
    assert torch.equal(again, 2 * first)
    assert torch.equal(other[:, :2], first + 1)
    other.sum().backward()
    assert made.layer.weight.grad.abs().sum() > 0
