"""Where no line is known, the function to look into is: the one that is judged, beside what it calls."""

import textwrap

import pytest

from attnconf.conformance.diagnosis.region import region
from attnconf.conformance.engine.request import Binding, Implementation

FILE = textwrap.dedent("""
    class Attention(nn.Module):
        def __init__(self, d):
            self.o = nn.Linear(d, d)

        def split(self, x):
            return x.view(1, 2, 3, 4)

        def forward(self, q, k):
            a = self.split(q)
            b = self.split(k)
            return a @ b.mT

    class Layer(nn.Module):
        def __init__(self, d):
            self.attention = Attention(d)

        def forward(self, x):
            return x + self.attention(x, x)

    class Other(nn.Module):
        def forward(self, x):
            return x

    def plain(q, k, v):
        return q @ k.mT @ v

    def multi_head_attention(config, weights):
        def forward(query):
            return plain(query, query, query)

        return forward
""")

OF_ATTENTION = ", or in what it calls: Attention.forward(), homework.py:9–12"
OF_SPLIT = ", or in what it calls: split(), homework.py:6–7"


@pytest.fixture
def judged(tmp_path):
    """Return a function that gives the implementation of one class or function of the file."""
    path = tmp_path / "homework.py"
    path.write_text(FILE, encoding="utf-8")
    return lambda inside: Implementation(f"homework.py:{inside}", {}, source=str(path), binding=Binding(inside=inside))


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("Attention", f"somewhere in forward(), homework.py:9–12{OF_SPLIT}"),
        ("Layer", f"somewhere in forward(), homework.py:18–19{OF_ATTENTION}"),
        ("Other", "somewhere in forward(), homework.py:22–23"),
        ("plain", "somewhere in plain(), homework.py:25–26"),
        ("", None),  # three classes, and nothing says which
    ],
)  # fmt: skip
def test_the_function_that_is_run_and_what_it_calls(judged, inside, found):
    assert region(judged(inside), "encoder") == found


def test_of_an_adapter_it_is_what_it_returns(judged):
    words = "somewhere in forward(), homework.py:29–30, or in what it calls: plain(), homework.py:25–26"
    assert region(judged(""), "multi_head_attention") == words


def test_it_is_the_function_with_all_code_that_may_be_meant(judged):
    assert region(judged("Attention"), "x", ["MHA-split-without-transpose"]) == "somewhere in split(), homework.py:6–7"


def test_a_mistake_of_a_layer_is_not_made_in_the_classes_that_it_uses(judged):
    words = "somewhere in forward(), homework.py:18–19"
    assert region(judged("Layer"), "encoder_layer", ["ENC-no-such-shape"]) == words
    assert region(judged("Layer"), "encoder_layer", ["ATT-no-such-shape"]) == words + OF_ATTENTION


def test_what_has_no_text_has_no_place(tmp_path):
    assert region(Implementation("library", {}), "attention") is None
    (tmp_path / "broken.py").write_text("def f(:", encoding="utf-8")
    assert region(Implementation("broken", {}, source=str(tmp_path / "broken.py")), "attention") is None
