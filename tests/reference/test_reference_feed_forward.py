"""The feed-forward reference against loops, torch.nn and published numbers: nothing here shares its code."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnconf.reference.feed_forward import activate, drop_hidden, feed_forward

torch.set_num_threads(1)

BY_HAND = {
    "relu": lambda z: max(z, 0.0),
    "gelu": lambda z: z * 0.5 * math.erfc(-z / math.sqrt(2)),
    "gelu-tanh": lambda z: z / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (z + 0.044715 * z * z * z))),
    "quick-gelu": lambda z: z / (1 + math.exp(-1.702 * z)),
    "silu": lambda z: z / (1 + math.exp(-z)),
    "sigmoid": lambda z: 1 / (1 + math.exp(-z)),
    "none": lambda z: z,
}
TORCH = {
    "relu": F.relu, "gelu": F.gelu, "gelu-tanh": lambda z: F.gelu(z, approximate="tanh"), "silu": F.silu,
    "quick-gelu": lambda z: F.silu(1.702 * z) / 1.702, "sigmoid": torch.sigmoid, "none": lambda z: z,
}  # fmt: skip


def drawn(width, hidden, gated, bias):
    torch.manual_seed(0)
    shapes = {"up": (hidden, width), "down": (width, hidden)} | ({"gate": (hidden, width)} if gated else {})
    weights = {f"{name}.weight": torch.randn(shape, dtype=torch.float64) for name, shape in shapes.items()}
    if bias:
        weights |= {f"{name}.bias": torch.randn(shape[0], dtype=torch.float64) for name, shape in shapes.items()}
    return weights


def one_token(x, weights, act):
    """Return the output for one token, list by list."""
    w = {name: tensor.tolist() for name, tensor in weights.items()}

    def layer(name, x):
        products = [sum(a * b for a, b in zip(row, x, strict=True)) for row in w[f"{name}.weight"]]
        return [p + b for p, b in zip(products, w.get(f"{name}.bias", [0.0] * len(products)), strict=True)]

    up = layer("up", x)
    if "gate.weight" in w:
        return layer("down", [act(g) * u for g, u in zip(layer("gate", x), up, strict=True)])
    return layer("down", [act(u) for u in up])


@pytest.mark.parametrize("activation", BY_HAND)
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize(("bias", "sizes"), [(True, (3, 5)), (False, (4, 2)), (True, (3, 1))])
def test_loops_give_the_same(activation, gated, bias, sizes):
    weights, x = drawn(*sizes, gated, bias), torch.randn(2, 4, sizes[0], dtype=torch.float64)
    want = [[one_token(token, weights, BY_HAND[activation]) for token in sample] for sample in x.tolist()]
    torch.testing.assert_close(feed_forward(x, weights, activation), torch.tensor(want, dtype=torch.float64))


@pytest.mark.parametrize(
    ("x", "want"), [([1.0, 1.0], [0.52371722, 0.85081857]), ([1.0, 2.0], [1.23444617, 2.38447809])]
)
def test_the_numbers_of_t5x(x, want):
    """google-research/t5x, examples/t5/layers_test.py, MlpBlock with relu; kernels there are (in, out)."""
    wi = [[-0.86758113, 0.08417511, 0.02258635, -0.91241026], [-0.19464374, 0.49809837, 0.78084683, 0.92672896]]
    wo = [[0.01154780, 0.13972497], [0.97498035, 0.59032607], [-0.05997944, 0.61657023], [0.29342723, 0.81811643]]
    weights = {"up.weight": torch.tensor(wi).T, "down.weight": torch.tensor(wo).T}
    torch.testing.assert_close(feed_forward(torch.tensor([[x]]), weights, "relu"), torch.tensor([[want]]))


@pytest.mark.parametrize("activation", TORCH)
def test_activations_are_those_of_torch(activation):
    z = torch.linspace(-9, 9, 1001, dtype=torch.float64)
    torch.testing.assert_close(activate(z, activation), TORCH[activation](z), rtol=0, atol=1e-15 * 9)


def test_the_two_gelus_differ_by_473_millionths_at_270():
    z = torch.linspace(-6, 6, 120001, dtype=torch.float64)
    apart = (activate(z, "gelu") - activate(z, "gelu-tanh")).abs()
    assert float(apart.max()) == pytest.approx(4.7324e-4, abs=1e-8)
    assert float(z[apart.argmax()].abs()) == pytest.approx(2.699, abs=1e-3)


def test_quick_gelu_differs_by_203_myriads_at_227():
    z = torch.linspace(-6, 6, 120001, dtype=torch.float64)
    apart = (activate(z, "gelu") - activate(z, "quick-gelu")).abs()
    assert float(apart.max()) == pytest.approx(2.0335e-2, abs=1e-6)
    assert float(z[apart.argmax()].abs()) == pytest.approx(2.27, abs=5e-3)


@pytest.mark.parametrize("activation", ["relu", "gelu", "quick-gelu"])
def test_the_network_in_a_torch_layer(activation):
    """With attention's output at zero and the norms taken off, an encoder layer is x + feed_forward(x)."""
    weights, x = drawn(6, 10, False, True), torch.randn(2, 5, 6, dtype=torch.float64)
    layer = nn.TransformerEncoderLayer(6, 2, 10, 0.0, TORCH[activation], batch_first=True, dtype=torch.float64).eval()
    layer.norm1, layer.norm2 = nn.Identity(), nn.Identity()
    with torch.no_grad():
        layer.self_attn.out_proj.weight.zero_()
        layer.self_attn.out_proj.bias.zero_()
        for linear, name in ((layer.linear1, "up"), (layer.linear2, "down")):
            linear.weight.copy_(weights[f"{name}.weight"])
            linear.bias.copy_(weights[f"{name}.bias"])
    layer.train()  # the path without fusion, which asks for norms; there is no dropout
    torch.testing.assert_close(layer(x), x + feed_forward(x, weights, activation))


def test_a_gate_is_what_glu_has_second():
    weights, x = drawn(3, 5, True, True), torch.randn(2, 4, 3, dtype=torch.float64)
    both = F.linear(
        x,
        torch.cat([weights["up.weight"], weights["gate.weight"]]),
        torch.cat([weights["up.bias"], weights["gate.bias"]]),
    )
    want = F.linear(F.glu(both), weights["down.weight"], weights["down.bias"])
    torch.testing.assert_close(feed_forward(x, weights, "sigmoid"), want)


@pytest.mark.parametrize("gated", [False, True])
def test_gradients_are_those_of_torch(gated):
    weights, x = drawn(3, 5, gated, True), torch.randn(2, 4, 3, dtype=torch.float64)
    grads = []
    for network in (lambda x, w: feed_forward(x, w, "silu"), in_torch):
        leaves = {name: w.clone().requires_grad_() for name, w in {"x": x, **weights}.items()}
        network(leaves["x"], leaves).square().sum().backward()
        grads.append({name: leaf.grad for name, leaf in leaves.items()})
    torch.testing.assert_close(*grads)


def in_torch(x, w):
    hidden = F.linear(x, w["up.weight"], w["up.bias"])
    hidden = F.silu(F.linear(x, w["gate.weight"], w["gate.bias"])) * hidden if "gate.weight" in w else F.silu(hidden)
    return F.linear(hidden, w["down.weight"], w["down.bias"])


def test_with_everything_dropped_the_second_bias_is_left():
    weights = drawn(3, 5, False, True)
    out = feed_forward(torch.randn(2, 4, 3, dtype=torch.float64), weights, "relu", dropout=1.0)
    assert torch.equal(out, weights["down.bias"].expand(2, 4, 3))


def test_dropout_keeps_the_mean():
    torch.manual_seed(0)
    kept = drop_hidden(torch.ones(100, 1000), 0.25)
    assert sorted(kept.unique().tolist()) == pytest.approx([0.0, 4 / 3])
    assert float(kept.mean()) == pytest.approx(1.0, abs=0.01)


def test_misfits_are_refused():
    weights = drawn(3, 5, False, True)
    with pytest.raises(RuntimeError):
        feed_forward(torch.zeros(2, 4, 5, dtype=torch.float64), weights)
    with pytest.raises(RuntimeError):
        feed_forward(torch.zeros(2, 4, 3, dtype=torch.float64), {**weights, "down.weight": weights["up.weight"]})
    with pytest.raises(ValueError, match="no activation 'swish': want relu, gelu, gelu-tanh, quick-gelu, silu, sig"):
        feed_forward(torch.zeros(2, 4, 3, dtype=torch.float64), weights, "swish")
