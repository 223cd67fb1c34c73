"""The order of a gate and of another layer in one parameter, as a file's words have it."""

from types import SimpleNamespace

import pytest

from attnconf.conformance.inference.small import said_of_gates

GATE_FIRST = ('"both": torch.cat([weights["gate.weight"], weights["up.weight"]])',)
GATE_LAST = ('"both": torch.cat([weights["up.weight"], weights["gate.weight"]])',)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("The first half is the value, the second half the gate: value * gelu(gate)", "up"),
        ("gate first, then up", None),  # of which no pattern is sure
        ("first the rows of w1, then those of w3. w2(silu(w1(x)) * w3(x))", "gate"),
        ("weights of both, (gate, up), side by side", "gate"),
        ("first the gate and the value", None),
        ("the first half (values), and then the gates", "up"),
        ("the first one is the gate, the second one the value. [value, gate] is how others do it", None),
        ("a gated network", None),
    ],
)
def test_words_against_what_is_activated(words, first, monkeypatch):
    monkeypatch.setattr(said_of_gates, "said_in_file", lambda module: words.splitlines())
    place = SimpleNamespace(module=None)
    assert bool(said_of_gates.swapped(place, GATE_FIRST)) == (first == "up")
    assert bool(said_of_gates.swapped(place, GATE_LAST)) == (first == "gate")
    assert said_of_gates.swapped(place, ('"up": weights["up.weight"]',)) == ()


def test_it_is_said_where_the_gate_is(monkeypatch):
    monkeypatch.setattr(said_of_gates, "said_in_file", lambda module: ["first the value, then the gate"])
    (words,) = said_of_gates.swapped(SimpleNamespace(module=None), GATE_FIRST)
    assert words == "the gate is the first half, and the file says that it is the second"
