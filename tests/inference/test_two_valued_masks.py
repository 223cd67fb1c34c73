"""A mask of floats of which code tells two values apart is no bias on the scores, unless one is promised or added."""

import pytest
from command_line import in_process

pytestmark = pytest.mark.long

TEXT = '''
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        """{words}"""
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer, x in ((self.q, query), (self.k, key), (self.v, value))
        )
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = {masked}
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
'''
ASKED = "Attention over other tokens."


@pytest.fixture
def told(tmp_path):
    """Return what is said of attention that masks its scores in a given way, and has words for it."""

    def run(masked, words=ASKED):
        (tmp_path / "homework.py").write_text(TEXT.format(masked=masked, words=words), encoding="utf-8")
        return in_process("run", "--impl=homework.py", cwd=tmp_path).stdout

    return run


@pytest.mark.parametrize(
    "masked",
    [
        'scores.masked_fill(mask == float("-inf"), float("-inf"))',
        'scores.masked_fill(mask.isneginf(), float("-inf"))',
        'scores.masked_fill(mask < -1, float("-inf"))',
        "torch.where(mask == 0, scores, mask)",
        "mask.where(mask != 0, scores)",
    ],
)
def test_two_values_are_told_apart(told, masked):
    words = told(masked)
    assert "additive, 0 or what hides" in words
    assert ": CONFORMANT (" in words, words


@pytest.mark.parametrize(
    ("masked", "words"),
    [
        ('scores.masked_fill(mask == float("-inf"), float("-inf"))', "mask: a bias, added to the scores; -inf hides."),
        ('(scores + 2 * mask).masked_fill(mask == float("-inf"), float("-inf"))', ASKED),
    ],
)
def test_what_is_promised_or_added_is_a_bias(told, masked, words):
    assert "MASK-BIAS-1 violated" in told(masked, words)


def test_a_bias_that_is_added_is_still_asked_for(told):
    words = told('(scores + mask).masked_fill(mask == float("-inf"), float("-inf"))')
    assert ": CONFORMANT (" in words, words
    assert "0 or what hides" not in words
