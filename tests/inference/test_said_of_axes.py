"""What words say of axes, and of a mask in the function that makes it: read where they are plain, else not."""

import importlib.util

import pytest
from judged_submissions import judge

from attnconf.conformance.inference.masks.claims import claimed
from attnconf.conformance.inference.trials.claims import claims_batch_first, claims_batches_only, claims_sequence_first

FUNCTION = '''"""{of_file}"""


def attend(q, k, v):
    """{own}"""
    return q
'''
CLASS = '''class Encoding:
    """x: {shape}"""

    def __init__(self):
        pass
'''
MASK = '''def real(ids):
    # {told}
    return ids


def other(ids):
    # True hides
    return ids


class Encoder:
    """{beside}"""

    def forward(self, x, mask=None):
        return x
'''


def file_with(tmp_path, source):
    path = tmp_path / "one.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("one_of_axes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def made(tmp_path, monkeypatch):
    def make(source):
        module = file_with(tmp_path, source)
        monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
        return module

    return make


@pytest.mark.parametrize(
    ("of_file", "own", "only"),
    [
        ("q is (B, n, d), v is (B, n, e)", "", True),
        ("", "[batch, tokens, width] each", True),
        ("q is (B, n, d)", "a mask of (n, m)", False),  # it may be that one sequence is meant
        ("q is (n, d)", "", False),
        ("q is (B, h, n, d)", "", False),
        ("look-ups", "", False),
    ],
)
def test_a_function_of_batches_takes_no_sequence_alone(made, of_file, own, only):
    assert claims_batches_only(made(FUNCTION.format(of_file=of_file, own=own)).attend) is only


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ("[Batch, Input length, d_model]", True),
        ("(Batch size, Number of words, width)", True),
        ("(Input length, Batch, d_model)", False),
        ("[steps, width]", False),
    ],
)
def test_axes_may_be_called_by_several_words(made, shape, first):
    assert claims_batch_first(made(CLASS.format(shape=shape)).Encoding) is first


@pytest.mark.parametrize(
    ("told", "beside", "says"),
    [
        ("1 for a word, 0 for filler", "mask: see real", "keeps"),
        ("True at padding", "x: (B, L, d), mask: made by real(ids)", "drops"),
        ("1 for a word, 0 for filler", "x: (B, L, d), mask: (B, L)", ""),  # nothing says what makes it
        ("1 for a word, 0 for filler", "x: see real", ""),
    ],
)
def test_a_mask_is_what_the_function_says_that_makes_it(made, told, beside, says):
    assert claimed(made(MASK.format(told=told, beside=beside)).Encoder, "mask") == says


# Code that exchanges the two axes: what it says, or takes apart, behind that is said of no input.
ENTERED = """
import math
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h, self.qkv, self.out = heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        x = x.transpose(0, 1)
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.h, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.transpose(-1, -2) / math.sqrt(C // self.h)).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C)).transpose(0, 1)
"""
HANDED = """
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, heads{first})

    def forward(self, x):
        y = x.transpose(0, 1)  # {axes}
        out, _ = self.mha(y, y, y)
        return out.transpose(0, 1)
"""
ADDED = """
import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=500):
        super().__init__()
        turn = torch.arange(max_len).unsqueeze(1) * torch.exp(
            torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        self.register_buffer("pe", torch.stack((turn.sin(), turn.cos()), -1).flatten(1).unsqueeze({at}))

    def forward(self, x):
        x = x.transpose(0, 1)  # {axes}
        x = x + self.pe[{rows}]
        return x.transpose(0, 1)
"""
EXCHANGED = {
    "attention, sequence first, taken apart": ENTERED,
    "attention, batch first, a comment inside": HANDED.format(first="", axes="(T, B, C)"),
    "attention, sequence first, a comment inside": HANDED.format(first=", batch_first=True", axes="(B, T, C)"),
    "positions, batch first": ADDED.format(at=1, axes="(T, B, C)", rows=": x.size(0)"),
    "positions, sequence first": ADDED.format(at=0, axes="(B, T, C)", rows=":, : x.size(1)"),
}


@pytest.mark.parametrize("source", EXCHANGED.values(), ids=EXCHANGED.keys())
def test_what_stands_behind_an_exchange_of_the_axes_is_no_claim(source, write):
    (_, verdict), *others = judge(str(write(source))).verdicts
    assert (verdict, others) == ("conformant", [])


SAID = HANDED.replace("    def __init__", '    """x: (T, B, C)"""\n\n    def __init__', 1)


def test_a_docstring_is_a_claim_beside_an_exchange_too(write):
    wrong = SAID.format(first="", axes="")
    judged = judge(str(write(wrong)))
    assert judged.verdicts == (("multi_head_attention", "nonconformant"),)
    assert judged.named == ("MHA-sequence-first",)


TAKEN_APART = """class Attention:
    {told}

    def forward(self, x, mask=None):
        {first}
        return x.transpose(0, 1), mask
"""
OF_WEIGHTS = '"""Returns weights (batch, heads, tokens, tokens), too."""'


@pytest.mark.parametrize(
    ("told", "first", "order"),
    [
        (OF_WEIGHTS, "n, b, w = x.shape", "sequence"),
        (OF_WEIGHTS, "n, batch, _ = x.size()", "sequence"),
        (OF_WEIGHTS, "b, n, w = x.shape", None),  # it exchanges two axes, maybe before
        (OF_WEIGHTS, "n, w, b = x.shape", None),
        (OF_WEIGHTS, "n, b = mask.shape", None),
        (OF_WEIGHTS, "pass", None),
        ('"""x: (batch, tokens, width)"""', "pass", "batch"),
    ],
)
def test_the_order_is_said_by_three_axes_and_not_by_those_of_weights(made, told, first, order):
    thing = made(TAKEN_APART.format(told=told, first=first)).Attention
    assert (claims_sequence_first(thing), claims_batch_first(thing)) == (order == "sequence", order == "batch")
