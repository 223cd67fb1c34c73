"""Factors on what the sublayers of a layer add: told from gains, from an ε, and from what no textbook has."""

import pytest
import torch
from test_inference_options import HEAD, inferred_of

torch.set_num_threads(1)

LAYER = """
class Layer(nn.Module):
    def __init__(self, dim, heads, hidden, {argument}):
        super().__init__()
        self.att = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))
        self.one, self.two = {factors}

    def forward(self, x):
        y = self.n1(x)
        x = x + self.att(y, y, y)[0] * self.one
        return x + self.net(self.n2(x)) * self.two
"""
VECTORS = "(nn.Parameter(start * torch.ones(dim)) for _ in range(2))"
SCALARS = "(nn.Parameter(torch.tensor(start)) for _ in range(2))"


@pytest.mark.parametrize(("factors", "kind"), [(VECTORS, "vector"), (SCALARS, "scalar")])
def test_factors_are_no_gains_of_norms(tmp_path, factors, kind):
    found = inferred_of(tmp_path, HEAD + LAYER.format(argument="start=0.5", factors=factors))
    assert found.certified == "reference"
    assert (found.draft.declares["branch-scale"], found.draft.declares["norm-order"]) == (kind, "pre")


@pytest.mark.parametrize("name", ["start", "gamma_zero"])
def test_what_a_factor_begins_with_is_no_eps(tmp_path, name):
    text = LAYER.format(argument=f"{name}=1e-4", factors=VECTORS.replace("start", name))
    found = inferred_of(tmp_path, HEAD + text)
    assert (found.certified, found.draft.declares["eps"]) == ("reference", "1e-05")
    assert "config.eps)" not in found.draft.body


def test_a_parameter_that_the_textbook_has_not_is_told(tmp_path):
    """Three numbers that begin with 1: what is computed with them is the textbook until they have been learned."""
    text = LAYER.format(argument="start=1.0", factors="nn.Parameter(torch.ones(3)), 1.0")
    found = inferred_of(tmp_path, HEAD + text.replace("self.one\n", "self.one.prod()\n"))
    assert any("one: no weight of encoder_layer" in line for line in found.open_ends)


GAIN = """
class Gain(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.gain * x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)
"""


def test_a_gain_that_stands_before_the_division_is_no_factor(tmp_path):
    text = LAYER.format(argument="start=0.5", factors="1.0, 1.0").replace("nn.LayerNorm", "Gain")
    found = inferred_of(tmp_path, HEAD + GAIN + text)
    assert (found.certified, found.draft.declares["norm-kind"]) == ("reference", "rms")
    assert "branch-scale" not in found.draft.declares
