"""Where ε stands in the norms of a layer is seen where it counts, whether it is in the code or given."""

import pytest
from small_parts import HEAD

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.loading.required_conventions import held_to
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results
from attnconf.conformance.run.implementations import load

LAYER = """
class Norm(nn.Module):
    def __init__(self, d, eps):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d))
SHIFT
    def forward(self, x):
        y = MIDDLE
        return y / (y.pow(2).mean(-1, keepdim=True)DIVISOR) * self.gainSHIFTED

class Layer(nn.Module):
    def __init__(self, d, h, fARGUMENT):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=BIAS) for _ in range(4))
        self.up, self.down = nn.Linear(d, f, bias=BIAS), nn.Linear(f, d, bias=BIAS)
        self.first, self.second = Norm(d, EPS), Norm(d, EPS)
    def attend(self, x):
        q, k, v = (w(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for w in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
    def forward(self, x):
        x = x + self.attend(self.first(x))
        return x + self.down(F.relu(self.up(self.second(x))))
"""
WITH_MEAN = {
    "SHIFTED": " + self.shift",
    "SHIFT": "        self.shift = nn.Parameter(torch.zeros(d))",
    "MIDDLE": "x - x.mean(-1, keepdim=True)",
    "BIAS": "True",
}
WITHOUT = {"SHIFTED": "", "SHIFT": "", "MIDDLE": "x", "BIAS": "False"}
KINDS = {"layer": WITH_MEAN, "rms": WITHOUT}
DIVISORS = {"inside": ".add(self.eps).sqrt()", "outside": ".sqrt() + self.eps"}


def layer(tmp_path, kind: str, place: str, eps: str) -> Implementation:
    """Return what is found in a file with a layer; an empty ``eps``: an argument of its constructor."""
    argument = {"ARGUMENT": "", "EPS": eps} if eps else {"ARGUMENT": ", eps=1e-5", "EPS": "eps"}
    text = LAYER
    for word, replaced in {**KINDS[kind], "DIVISOR": DIVISORS[place], **argument}.items():
        text = text.replace(word, replaced)
    (tmp_path / "hand.py").write_text(HEAD + text)
    (found,) = load(f"{tmp_path / 'hand.py'}:Layer")
    assert isinstance(found, Implementation)
    return found


def verdicts(implementation: Implementation) -> tuple[list[str], set[str]]:
    """Return the verdicts, and the mistakes that were named."""
    record = results.record(judge([implementation]))
    named = {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"]}
    return [v["verdict"] for v in record["verdicts"]], named


@pytest.mark.parametrize("eps", ["", "1e-5", "1e-6", "1e-8"])
@pytest.mark.parametrize("place", DIVISORS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_found_and_right(tmp_path, kind, place, eps):
    found = layer(tmp_path, kind, place, eps)
    assert found.declares.get(f"{kind}-norm-eps", "inside") == place
    assert float(found.declares.get("eps", 0)) == float(eps or 0)
    assert verdicts(found) == (["conformant"], set())


@pytest.mark.parametrize(("kind", "mistake"), [("layer", "LN-eps-outside"), ("rms", "RMS-eps-outside")])
def test_it_counts_where_a_course_pins_it(tmp_path, kind, mistake):
    found = layer(tmp_path, kind, "outside", "")
    assert verdicts(held_to(found, {f"{kind}-norm-eps": "inside"})) == (["nonconformant"], {mistake})
