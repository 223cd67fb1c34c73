"""What words say of axes, and of a mask in the function that makes it: read where they are plain, else not."""

import importlib.util

import pytest

from attnconf.conformance.inference.claims import claims_batch_first, claims_batches_only
from attnconf.conformance.inference.mask_claims import claimed

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
