"""``bind``: any nn.Module on given weights, with gradients to them."""

import random
import subprocess
import sys
from collections import namedtuple

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnconf import cli
from attnconf.adapters import bind

torch.set_num_threads(1)
Pair = namedtuple("Pair", "out attention")
X = torch.randn(5, 3, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def random_state(module, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return {
        n: torch.randn(p.shape, generator=generator, dtype=torch.float64).requires_grad_()
        for n, p in module.named_parameters()
    }


def deriving(returned=lambda out: out, train=True):
    """Return a module of a new class that takes its transposed weight when it is built, as some public files do."""

    class Deriving(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 4, bias=False, dtype=torch.float64)
            self.last = nn.Linear(4, 4, dtype=torch.float64)
            self.turned = self.layer.weight.t()

        def forward(self, x):
            return returned(self.last((x @ self.turned).softmax(0)))

    return Deriving().train(train)


def derived_formula(state, x):
    return F.linear((x @ state["layer.weight"].T).softmax(0), state["last.weight"], state["last.bias"])


class Counting(nn.Module):
    """Keeps counts in a buffer and in an attribute, and lets the buffer leak into the output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4, dtype=torch.float64)
        self.register_buffer("calls", torch.zeros((), dtype=torch.float64))
        self.log = []
        self.count = 0

    def forward(self, x):
        self.calls += 1
        self.count += 1
        self.log.append(x.shape)
        return self.layer(x) + self.calls


class DerivingCounting(Counting):
    def __init__(self):
        super().__init__()
        self.turned = self.layer.weight.t()

    def forward(self, x):
        self.calls += 1
        return x @ self.turned + self.layer.bias + self.calls


class HasDead(nn.Module):
    def __init__(self, dtype=torch.float64):
        super().__init__()
        self.used = nn.Linear(3, 4, dtype=dtype)
        self.unused = nn.Parameter(torch.zeros(2, dtype=dtype))

    def forward(self, x):
        return self.used(x)


class KeyBias(nn.Module):
    """One head of attention; the bias of its keys changes nothing."""

    def __init__(self, dtype=None, device=None):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(3, 3, dtype=dtype, device=device) for _ in range(3))

    def forward(self, x):
        return (self.q(x) @ self.k(x).T).softmax(-1) @ self.v(x)


def key_bias_formula(s, x):
    q, k, v = (x @ s[f"{n}.weight"].T + s[f"{n}.bias"] for n in "qkv")
    return (q @ k.T).softmax(-1) @ v


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


def test_what_was_written_and_may_be_edited_is_not_overwritten(tmp_path):
    path, adapter = tmp_path / "mine.py", tmp_path / "adapter.py"
    path.write_text("def relu(x):\n    return x.clamp(min=0)\n", encoding="utf-8")
    adapter.write_text("# my edit\n", encoding="utf-8")
    assert cli.main(["bind", str(path), "-o", str(adapter)]) == cli.USAGE
    assert adapter.read_text(encoding="utf-8") == "# my edit\n"
