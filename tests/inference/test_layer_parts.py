"""The parts of a layer: the ε of its norms, the dtype in which they compute, functions that hold parts."""

import pytest
import torch
from test_inference_options import HEAD, inferred_of

from attnconf.conformance import inference
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)

NORM = """
class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("least", torch.tensor({eps}, dtype=torch.float64))

    def forward(self, x):
        apart = x - x.mean(-1, keepdim=True)
        return self.gain * (apart / torch.sqrt(apart.square().mean(-1, keepdim=True) + self.least)) + self.shift
"""
LAYER = """
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.att = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.one, self.two = Norm(d_model), Norm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        {forward}
"""
POST = "x = self.one(x + self.att(x, x, x)[0]); return self.two(x + self.ff(x))"
PRE = "y = self.one(x); x = x + self.att(y, y, y)[0]; return x + self.ff(self.two(x))"


@pytest.mark.parametrize("forward", [POST, PRE])
@pytest.mark.parametrize("eps", ["1e-05", "1e-06", "1e-08", "1e-12"])
def test_eps_is_read_where_nothing_shows_it(tmp_path, eps, forward):
    """A tensor in a buffer is no number of the code: the rows on which ε counts tell."""
    found = inferred_of(tmp_path, HEAD + NORM.format(eps=eps) + LAYER.format(forward=forward))
    assert (found.certified, found.draft.declares["eps"]) == ("reference", eps)
    assert f"if config.eps != {float(eps)}:" in found.draft.body


def test_no_eps_is_the_least_one_and_a_word(tmp_path):
    found = inferred_of(tmp_path, HEAD + NORM.format(eps=0.0) + LAYER.format(forward=POST))
    assert (found.certified, found.draft.declares["eps"]) == ("reference", "1e-12")
    assert any("less than 1e-12, or none" in line for line in found.told)


SINGLE = """
class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)
"""


def test_norms_that_compute_in_float32_get_their_parameters_in_it(tmp_path):
    found = inferred_of(tmp_path, HEAD + SINGLE + LAYER.format(forward=PRE))
    assert (found.draft.component, found.certified) == ("encoder_layer", "reference")
    assert "in_single(theirs.EncoderLayer(" in found.draft.body
    assert '"one", "two")' in found.draft.body


def test_norms_of_the_common_kind_are_left_alone(tmp_path):
    found = inferred_of(tmp_path, HEAD + NORM.format(eps="1e-05") + LAYER.format(forward=PRE))
    assert "in_single" not in found.draft.body


LAMBDA = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        inner = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.inner = inner
        self.attend = lambda x: inner(x, x, x, need_weights=False)[0]

    def forward(self, x):
        return self.attend(x)
"""


def test_a_function_over_parts_applies_the_parameters_that_are_given(tmp_path):
    """A copy of the module would call the parts of the original."""
    found = inferred_of(tmp_path, HEAD + LAMBDA)
    assert (found.draft.component, found.certified, found.open_ends) == ("multi_head_attention", "reference", ())


SCORES = """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2)),
"""


def test_scores_without_a_scale_are_a_mistake_in_a_layer_with_biases(tmp_path):
    """T5's layers have none; of the others it is nobody's definition."""
    layer = LAYER.replace("nn.MultiheadAttention(d_model, n_heads, batch_first=True)", "Attention(d_model, n_heads)")
    text = layer.format(forward=POST.replace("self.att(x, x, x)", "self.att(x)")).replace("Norm(", "nn.LayerNorm(")
    (tmp_path / "homework.py").write_text(HEAD + SCORES + text, encoding="utf-8")
    found, *_ = inference.bindings(read(tmp_path / "homework.py"), "EncoderLayer", None)[0]
    assert found.certified == "ATT-unscaled"
    assert "attention-scale" not in found.draft.declares


SWITCH = """
class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        scores = scores if mask is None else scores.masked_fill({hidden}, -math.inf)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)),
"""


@pytest.mark.parametrize(("hidden", "whatever"), [("later", True), ("later | (mask == 0)", False)])
def test_a_mask_that_makes_it_causal_whatever_it_holds_is_told(tmp_path, hidden, whatever):
    layer = LAYER.replace("nn.MultiheadAttention(d_model, n_heads, batch_first=True)", "Attention(d_model, n_heads)")
    forward = POST.replace("self.att(x, x, x)", "self.att(x, mask)")
    text = (
        layer.format(forward=forward)
        .replace("Norm(", "nn.LayerNorm(")
        .replace("forward(self, x)", "forward(self, x, mask=None)")
    )
    (tmp_path / "homework.py").write_text(HEAD + SWITCH.format(hidden=hidden) + text, encoding="utf-8")
    found, *_ = inference.bindings(read(tmp_path / "homework.py"), "EncoderLayer", None)[0]
    assert found.certified == "reference"
    assert any("whatever mask is given to `mask`, it is causal" in words for words in found.open_ends) == whatever


LOOSE = """
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        self.first, self.second = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.a = torch.randn(d_model, d_ff, requires_grad=True)
        self.b = torch.randn(d_ff, d_model, requires_grad=True)

    def forward(self, x):
        x = self.first(x + self.attention(x, x, x, need_weights=False)[0])
        return self.second(x + torch.relu(x @ self.a) @ self.b)
"""


def test_tensors_that_want_gradients_are_bound_and_it_is_said(tmp_path):
    (tmp_path / "loose.py").write_text(LOOSE)
    (found,) = inference.bindings(read(tmp_path / "loose.py"), "Network", "encoder_layer")[0]
    assert found.certified == "reference"
    assert found.open_ends == (
        "`a`, `b`: tensors and no parameters; no optimizer finds them, and no .to() and state_dict has them",
    )
