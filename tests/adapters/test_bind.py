"""``bind``: any nn.Module on given weights, with gradients to them."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from odd_modules import Counting, DerivingCounting, HasDead, KeyBias, X, key_bias_formula, random_state
from torch import nn

from attnconf.adapters import bind

torch.set_num_threads(1)


def test_importing_the_adapters_imports_no_torch():
    program = "import sys, attnconf.adapters; assert 'torch' not in sys.modules; attnconf.adapters.bind"
    program += "; assert 'torch' in sys.modules; attnconf.adapters.nothing"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stderr.strip().endswith("AttributeError: module 'attnconf.adapters' has no attribute 'nothing'")


def test_outputs_and_gradients_are_those_of_the_given_weights():
    module = nn.Linear(3, 4, dtype=torch.float64)
    state = random_state(module)
    x = X.clone().requires_grad_()
    out = bind(module, state)(x)
    torch.testing.assert_close(out, x @ state["weight"].T + state["bias"])
    to_weight, to_bias, to_x = torch.autograd.grad(out.sum(), [state["weight"], state["bias"], x])
    torch.testing.assert_close(to_weight, X.sum(0).expand(4, 3))
    torch.testing.assert_close(to_bias, torch.full((4,), 5.0, dtype=torch.float64))
    torch.testing.assert_close(to_x, state["weight"].detach().sum(0).expand(5, 3))


def test_one_object_stays_one_object():
    class Same(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4, bias=False, dtype=torch.float64)
            self.turned = self.layer.weight.t()

        def forward(self, query, key, *, value):
            assert query is key is value
            return query @ self.turned

    module = Same()
    state = random_state(module)
    x = X.clone().requires_grad_()
    out = bind(module, state)(x, x, value=x)
    torch.testing.assert_close(out, X @ state["layer.weight"].T)
    (grad,) = torch.autograd.grad(out.sum(), [x])
    torch.testing.assert_close(grad, state["layer.weight"].detach().sum(0).expand(5, 3))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_dead_parameter_is_no_mistake(dtype):
    module = HasDead(dtype)
    state = random_state(module)
    for _ in range(2):
        out = bind(module, state)(X)
        torch.testing.assert_close(out, X @ state["used.weight"].T + state["used.bias"])
        grads = torch.autograd.grad(out.sum(), list(state.values()), allow_unused=True)
        assert [g is None for g in grads] == [n == "unused" for n in state]


@pytest.mark.parametrize("make", [{"dtype": torch.float64}, {"dtype": torch.float32}, {"device": "meta"}], ids=str)
def test_the_bias_of_keys_has_no_effect_and_a_gradient_of_zero(make):
    module = KeyBias(**make)
    state = random_state(module)
    out = bind(module, state)(X)
    torch.testing.assert_close(out, key_bias_formula(state, X))
    grads = dict(zip(state, torch.autograd.grad(out.square().sum(), list(state.values())), strict=True))
    assert grads.pop("k.bias").abs().max() < 1e-12
    assert all(g.abs().max() > 1e-6 for g in grads.values())


@pytest.mark.parametrize("kind", [Counting, DerivingCounting])
def test_buffers_do_not_outlive_a_call(kind):
    module = kind()
    state = random_state(module)
    call = bind(module, state)
    for _ in range(3):
        torch.testing.assert_close(call(X), X @ state["layer.weight"].T + state["layer.bias"] + 1)
    assert module.calls == 0


def test_buffers_take_the_dtype_of_the_weights():
    class Table(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4)
            self.register_buffer("table", torch.eye(4))
            self.register_buffer("mask", torch.ones(4).bool())

        def forward(self, x):
            assert self.mask.dtype == torch.bool
            return F.linear(self.layer(x), self.table)

    module = Table()
    state = random_state(module)
    torch.testing.assert_close(bind(module, state)(X), X @ state["layer.weight"].T + state["layer.bias"])
    assert module.table.dtype == torch.float32


def test_looking_for_effects_leaves_no_trace():
    module = Counting().train()
    module.layer.eval()
    before = {n: p.clone() for n, p in module.named_parameters()}
    state = random_state(module)
    bind(module, state)(X)
    assert (module.count, len(module.log)) == (1, 1)  # of the call itself
    assert (module.training, module.layer.training) == (True, False)
    assert all(torch.equal(p, before[n]) for n, p in module.named_parameters())
    assert all(p.grad is None for p in [*module.parameters(), *state.values()])


@pytest.mark.parametrize("hard_coded", [False, True])
def test_the_state_of_the_random_generator_is_left_alone(hard_coded):
    class Dropping(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4, dtype=torch.float64)

        def forward(self, x):
            return F.dropout(self.layer(x), 0.5, training=hard_coded or self.training)

    module = Dropping().train()
    state = random_state(module)
    torch.manual_seed(0)
    want = F.dropout(X @ state["layer.weight"].T + state["layer.bias"], 0.5)
    call = bind(module, state)
    for _ in range(2):
        torch.manual_seed(0)
        out = call(X)
        torch.testing.assert_close(out, want)
        assert (out == 0).any()
    (grad,) = torch.autograd.grad(out.sum(), [state["layer.bias"]])
    torch.testing.assert_close(grad, 2.0 * (want != 0).double().sum(0))


def test_what_a_module_raises_comes_out_unchanged():
    class Refuses(nn.Linear):
        def forward(self, x):
            raise NotImplementedError("attention without masks")

    module = Refuses(3, 4, dtype=torch.float64)
    with pytest.raises(NotImplementedError, match=r"^attention without masks$"):
        bind(module, random_state(module))(X)


def test_gradients_go_through_a_fused_weight():
    parts = [torch.randn(4, 4, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True, dtype=torch.float64)
    call = bind(module, {"in_proj_weight": torch.cat(parts), "out_proj.weight": torch.eye(4, dtype=torch.float64)})
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    grads = torch.autograd.grad(call(x, x, x)[0].square().sum(), parts)
    assert all(g.abs().max() > 1e-6 for g in grads)


def test_tied_parameters_are_given_once_by_any_name():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(3, 3, bias=False, dtype=torch.float64)
            self.two = nn.Linear(3, 3, bias=False, dtype=torch.float64)
            self.two.weight = self.one.weight

        def forward(self, x):
            return self.two(self.one(x))

    weight = torch.randn(3, 3, dtype=torch.float64)
    for name in ("one.weight", "two.weight"):
        torch.testing.assert_close(bind(Tied(), {name: weight})(X), X @ weight.T @ weight.T)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s | {"wieght": s["weight"]}, "no parameter 'wieght'; nearest: weight"),
        (lambda s: s | {"weight": s["weight"].T}, r"weight has shape \(4, 3\), but a tensor of shape \(3, 4\)"),
        (lambda s: {"weight": s["weight"]}, "no tensor was given for bias of Linear"),
        (lambda s: {"weight": s["weight"], "bais": s["bias"]}, "no parameter 'bais'; nearest: bias"),
    ],
)
def test_wrong_names_and_shapes_are_refused(change, message):
    module = nn.Linear(3, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match=message):
        bind(module, change(random_state(module)))


def test_a_buffer_without_values_is_refused():
    module = nn.BatchNorm1d(3, device="meta")
    with pytest.raises(ValueError, match="the buffers running_mean, running_var, num_batches_tracked of BatchNorm1d"):
        bind(module, random_state(module))
