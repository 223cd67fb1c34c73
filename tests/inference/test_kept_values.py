"""What a call leaves behind: nothing that outlives the weights that it was made of, and no other masks."""

from pathlib import Path

import pytest
import torch

from attnconf.conformance import inference
from attnconf.conformance.inference.state.kept_values import STALE
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
SUBMISSIONS = Path(__file__).parents[1] / "submissions"
LEARNED = """
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps, self.kept = eps, None

    def forward(self, x):
        if {again}:
            self.kept = self.weight{how}
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.kept
"""


def broken(path):
    (found,), _ = inference.bindings(read(path), None, None)
    return found.broken


@pytest.mark.parametrize(
    ("again", "how", "stale"),
    [
        ("self.kept is None", " * 1.0", True),
        ("self.kept is None", ".clone()", True),
        ("self.kept is None", "", False),  # the parameter itself
        ("self.training or self.kept is None", " * 1.0", False),
        ("True", " * 1.0", False),
    ],
)
def test_what_is_kept_follows_the_weights(tmp_path, again, how, stale):
    path = tmp_path / "norm.py"
    path.write_text(LEARNED.format(again=again, how=how), encoding="utf-8")
    assert (STALE in broken(path)) == stale


@pytest.mark.parametrize(("kind", "name"), [("right", "kept_in_evaluation"), ("wrong", "of_old_weights")])
def test_a_cache_may_serve_evaluation(kind, name):
    assert (STALE in broken(SUBMISSIONS / kind / f"pos_t5_bias_{name}.py")) == (kind == "wrong")


@pytest.mark.parametrize("how", ["mask &= below", "mask = mask & below"])
def test_the_mask_of_a_layer_stays_as_it_was(tmp_path, how):
    text = (SUBMISSIONS / "wrong" / "lay_mask_of_the_caller.py").read_text(encoding="utf-8")
    path = tmp_path / "block.py"
    path.write_text(
        text.replace("mask &= ", "below = ").replace(
            "        x = x + self.att", f"        {how}\n        x = x + self.att"
        )
    )
    assert ("the argument `mask` of forward is overwritten" in broken(path)) == ("&=" in how)
