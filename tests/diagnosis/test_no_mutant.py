"""What is behind a failure and is no mutant: a backward pass that raises, an output that nobody computes."""

import pytest
import torch
from command_line import in_process
from torch import nn

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run import judge

torch.set_num_threads(1)
CHANGED = """
        deviation = (x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True).add(self.eps).sqrt()
        out = (x - x.mean(-1, keepdim=True)) / deviation
        deviation += 1
        return out * self.weight + self.bias"""
OF_ITS_OWN = """
        return Norm.apply(x, self.eps) * self.weight + self.bias"""
NOTHING_TRAINED = """
        with torch.no_grad():
            return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)"""
EMPTY = """
        return torch.empty_like(x)"""
FILE = """
import torch
from torch import nn
class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        return nn.functional.layer_norm(x, x.shape[-1:], eps=eps)
    @staticmethod
    def backward(ctx, slope):
        raise ValueError("some other day")
class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim)), eps
    def forward(self, x):{lines}
"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (CHANGED, "a tensor that it needs was changed in place after it was saved"),
        (OF_ITS_OWN, "backward raises an exception"),
        (NOTHING_TRAINED, "nothing can be trained with it"),
        (EMPTY, "the output is not computed from the input"),
    ],
    ids=["changed in place", "of its own", "without gradients", "empty"],
)
def test_what_no_mutant_stands_for_is_told_and_counts(tmp_path, lines, words):
    (tmp_path / "it.py").write_text(FILE.format(lines=lines), encoding="utf-8")
    done = in_process("run", "--impl=it.py:LayerNorm", "-q", cwd=tmp_path)
    assert "NONCONFORMANT" in done.stdout
    assert words in " ".join(done.stdout.split())


def test_a_norm_that_draws_is_no_output_that_nobody_computes():
    """Gradients reach what went in."""

    def layer_norm(config, weights):
        return lambda x: nn.functional.layer_norm(x, config.shape, **weights, eps=config.eps) + torch.rand_like(x)

    run = judge([Implementation("noisy", {"layer_norm": layer_norm})])
    assert "CALL-not-computed" not in {m.id for d in run.diagnoses.values() for m in d.mutants}
