"""``bind`` on a module that made tensors from its parameters when it was built."""

import random
from collections import namedtuple

import pytest
import torch
from odd_modules import X, derived_formula, deriving, random_state
from torch import nn

from attnconf.adapters import bind

torch.set_num_threads(1)
Pair = namedtuple("Pair", "out attention")


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(
    ("returned", "read"),
    [
        (lambda out: out, lambda r: r),
        (lambda out: (out, None), lambda r: r[0]),
        (lambda out: {"out": out, "note": "text"}, lambda r: r["out"]),
        (lambda out: Pair(out, out.detach()), lambda r: r.out),
    ],
    ids=["tensor", "tuple", "dict", "namedtuple"],
)
def test_weights_derived_at_construction_take_effect_with_gradients(returned, read, train):
    module = deriving(returned, train)
    state = random_state(module)
    x = X.clone().requires_grad_()
    back = bind(module, state)(x)
    want = derived_formula(state, x)
    torch.testing.assert_close(read(back), want)
    assert type(back) is type(returned(want))
    wrt = [*state.values(), x]
    got = torch.autograd.grad(read(back).square().sum(), wrt, retain_graph=True)
    for g, w in zip(got, torch.autograd.grad(want.square().sum(), wrt), strict=True):
        torch.testing.assert_close(g, w)
    for g, again in zip(got, torch.autograd.grad(read(back).square().sum(), wrt), strict=True):
        assert torch.equal(g, again)


def test_a_derived_output_without_gradient_says_so():
    module = deriving(lambda out: Pair(out, out.detach()))
    back = bind(module, random_state(module))(X)
    assert back.out.requires_grad
    assert not back.attention.requires_grad


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_a_deriving_module_is_right_in_every_mode(mode):
    module = deriving()
    state = random_state(module)
    with mode():
        x = X.clone()
        out = bind(module, state)(x)
        assert out.requires_grad == torch.is_grad_enabled()
        torch.testing.assert_close(out, derived_formula(state, x), check_stride=False)
    torch.testing.assert_close(bind(module, state)(X), derived_formula(state, X))


@pytest.mark.parametrize(
    "blind",
    [torch.ones(1, 3), torch.zeros(5, 3), torch.full((5, 3), torch.nan)],
    ids=["one key", "all equal", "nan"],
)
def test_calls_that_tell_nothing_settle_nothing(blind):
    module = deriving()
    state = random_state(module)
    call = bind(module, state)
    for _ in range(5):
        call(blind.double())
    torch.testing.assert_close(call(X), derived_formula(state, X))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_what_is_certain_is_not_tried_again(mode):
    class Heard(nn.Linear):
        calls = 0

        def forward(self, x):
            Heard.calls += 1
            return super().forward(x)

    counts = []
    for _ in range(3):
        module = Heard(3, 4, dtype=torch.float64)
        with mode():
            bind(module, random_state(module))(X.clone())
        counts.append(Heard.calls)
    assert counts == [3, 4, 5]


@pytest.mark.parametrize("x", [X, torch.full_like(X, torch.nan)], ids=["chance", "nan"])
def test_nan_or_chance_in_training_is_not_taken_for_a_sign(x):
    class Moody(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 4)

        def forward(self, x):
            return self.inner(x) * (random.random() if self.training else 1.0)

    module = Moody().train()  # in float32: were it thought to derive tensors, float64 weights would be refused
    assert bind(module, random_state(module))(x).dtype == torch.float64


def test_a_module_that_has_the_given_weights_already_is_not_taken_for_proof():
    module = deriving()
    state = {n: p.detach().clone().requires_grad_() for n, p in module.named_parameters()}
    out = bind(module, state)(X)
    (grad,) = torch.autograd.grad(out.square().sum(), [state["layer.weight"]])
    assert grad.abs().max() > 1e-6


def test_options_of_one_class_may_derive_or_not():
    class Optional(nn.Module):
        def __init__(self, early):
            super().__init__()
            self.layer = nn.Linear(3, 4, bias=False, dtype=torch.float64)
            self.early = early
            self.turned = self.layer.weight.t() if early else None

        def forward(self, x):
            return x @ self.turned if self.early else self.layer(x)

    for early in (False, True, False):
        module = Optional(early)
        state = random_state(module)
        torch.testing.assert_close(bind(module, state)(X), X @ state["layer.weight"].T)


def test_earlier_calls_of_a_deriving_module_keep_their_gradients():
    module = deriving()
    state = random_state(module)
    call = bind(module, state)
    first, second = call(X), call(2 * X)
    want = derived_formula(state, X), derived_formula(state, 2 * X)
    for got, formula in ((first, want[0]), (second, want[1])):
        for g, w in zip(
            torch.autograd.grad(got.square().sum(), list(state.values())),
            torch.autograd.grad(formula.square().sum(), list(state.values())),
            strict=True,
        ):
            torch.testing.assert_close(g, w)


def test_one_deriving_module_serves_several_states_and_never_silently_wrong_gradients():
    module = deriving()
    one, other = random_state(module, 1), random_state(module, 2)
    first = bind(module, one)(X)
    second = bind(module, other)(X)
    torch.testing.assert_close(first, derived_formula(one, X))
    torch.testing.assert_close(second, derived_formula(other, X))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(first.sum(), list(one.values()))


def test_a_deriving_module_must_have_been_built_in_the_dtype_of_the_weights():
    class Gain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4, bias=False)
            self.row = self.layer.weight[0]

        def forward(self, x):
            return self.layer(x) * self.row[0]

    module = Gain()
    with pytest.raises(ValueError, match=r"Gain derives .* torch.float32 on cpu: build it in torch.float64 on cpu"):
        bind(module, random_state(module))(X)


def test_an_output_that_is_part_of_a_parameter_is_not_taken_for_a_derived_one():
    class Rows(nn.Embedding):
        def forward(self, x):
            return self.weight[: x.shape[0]]

    module = Rows(7, 4)
    state = {"weight": torch.randn(7, 4, dtype=torch.float64)}  # for a derived one it is another dtype: a ValueError
    assert torch.equal(bind(module, state)(X[:3]), state["weight"][:3])
