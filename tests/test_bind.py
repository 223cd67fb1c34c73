"""``bind``: any nn.Module on given weights, with gradients to them."""

import pytest
import torch
from torch import nn

from attnconf.adapters import bind

torch.set_num_threads(1)


def random_state(module):
    generator = torch.Generator().manual_seed(1)
    return {
        n: torch.randn(p.shape, generator=generator, dtype=torch.float64).requires_grad_()
        for n, p in module.named_parameters()
    }


class Derived(nn.Module):
    """Takes its transposed weight when it is built, as some public files do."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4, bias=False, dtype=torch.float64)
        self.turned = self.layer.weight.t()

    def forward(self, x):
        return x @ self.turned


class Counting(nn.Module):
    """Keeps a count in a buffer and lets it leak into the output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4, dtype=torch.float64)
        self.register_buffer("calls", torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        self.calls += 1
        return self.layer(x) + self.calls


class HasDead(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(3, 4, dtype=torch.float64)
        self.unused = nn.Parameter(torch.zeros(2, dtype=torch.float64))

    def forward(self, x):
        return self.used(x)


def test_outputs_and_gradients_are_those_of_the_given_weights():
    module = nn.Linear(3, 4, dtype=torch.float64)
    state = random_state(module)
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    out = bind(module, state)(x)
    torch.testing.assert_close(out, x @ state["weight"].T + state["bias"])
    (g,) = torch.autograd.grad(out.sum(), [state["weight"]])
    torch.testing.assert_close(g, x.detach().sum(0).expand(4, 3))


@pytest.mark.parametrize("kind", [Derived, HasDead])
def test_weights_derived_at_construction_take_effect_with_gradients(kind):
    module = kind()
    state = random_state(module)
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    out = bind(module, state)(x)
    weight = next(iter(w for w in state.values() if w.shape == (4, 3)))
    bias = state.get("used.bias", torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(out, x @ weight.T + bias)
    to_weight, to_x = torch.autograd.grad(out.square().sum(), [weight, x])
    torch.testing.assert_close(to_weight, 2 * out.detach().T @ x.detach())
    torch.testing.assert_close(to_x, 2 * out.detach() @ weight.detach())


def test_a_derived_module_is_right_in_every_mode():
    module = Derived()
    state = random_state(module)
    x = torch.randn(5, 3, dtype=torch.float64)
    want = x @ state["layer.weight"].T
    call = bind(module, state)
    with torch.no_grad():
        torch.testing.assert_close(call(x), want)
    with torch.inference_mode():
        torch.testing.assert_close(call(x), want)


def test_buffers_do_not_outlive_a_call():
    module = Counting()
    call = bind(module, random_state(module))
    x = torch.randn(5, 3, dtype=torch.float64)
    torch.testing.assert_close(call(x), call(x))
    assert module.calls == 0


def test_gradients_go_through_a_fused_weight():
    parts = [torch.randn(4, 4, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True, dtype=torch.float64)
    call = bind(module, {"in_proj_weight": torch.cat(parts), "out_proj.weight": torch.eye(4, dtype=torch.float64)})
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    grads = torch.autograd.grad(call(x, x, x)[0].square().sum(), parts)
    assert all(g.abs().max() > 1e-6 for g in grads)


def test_the_state_of_the_random_generator_is_left_alone():
    module = nn.Sequential(nn.Linear(3, 4, dtype=torch.float64), nn.Dropout(0.5)).train()
    call = bind(module, random_state(module))
    x = torch.ones(5, 3, dtype=torch.float64)
    torch.manual_seed(0)
    first = call(x)
    torch.manual_seed(0)
    torch.testing.assert_close(call(x), first)
    assert module.training
    assert (first == 0).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s | {"wieght": s["weight"]}, "no parameter 'wieght'; nearest: weight"),
        (lambda s: s | {"weight": s["weight"].T}, r"weight has shape \(4, 3\), but a tensor of shape \(3, 4\)"),
        (lambda s: {"weight": s["weight"]}, "no tensor was given for bias of Linear"),
    ],
)
def test_wrong_names_and_shapes_are_refused(change, message):
    module = nn.Linear(3, 4, dtype=torch.float64)
    with pytest.raises(ValueError, match=message):
        bind(module, change(random_state(module)))
