"""Layer normalization against loops written from the formula, torch.nn, closed forms and published numbers."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from attnconf.reference.layer_norm import layer_norm

torch.set_num_threads(1)

SHAPES = [((5,), 1), ((1, 4), 1), ((3, 2), 1), ((2, 5, 3), 1), ((2, 3, 4, 7), 1), ((4, 3, 5), 2), ((2, 3, 4, 5), 3)]


def draw(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def by_loops(x, axes, gain, shift, eps):
    """Return the norm of one token after the other, with plain sums."""
    out = np.empty_like(x)
    for at in np.ndindex(x.shape[: x.ndim - axes]):
        features = [float(f) for f in x[at].flatten()]
        mu = math.fsum(features) / len(features)
        sigma2 = math.fsum((f - mu) ** 2 for f in features) / len(features)
        token = [(f - mu) / math.sqrt(sigma2 + eps) for f in features]
        out[at] = np.array(token).reshape(gain.shape) * gain + shift
    return out


@pytest.mark.parametrize("eps", [1.0, 1e-5, 1e-12])
@pytest.mark.parametrize(("sizes", "axes"), SHAPES)
def test_it_is_what_loops_give(sizes, axes, eps):
    x, gain, shift = draw(*sizes) + 2, draw(*sizes[-axes:], seed=1), draw(*sizes[-axes:], seed=2)
    got = layer_norm(torch.from_numpy(x), sizes[-axes:], torch.tensor(gain), torch.tensor(shift), eps)
    np.testing.assert_allclose(got.numpy(), by_loops(x, axes, gain, shift, eps), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("affine", "bias"), [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize(("sizes", "axes"), SHAPES)
def test_it_is_torchs(sizes, axes, affine, bias):
    """Output and all gradients."""
    theirs = nn.LayerNorm(sizes[-axes:], eps=1e-3, elementwise_affine=affine, bias=bias, dtype=torch.float64)
    for i, parameter in enumerate(theirs.parameters()):
        parameter.data = torch.from_numpy(draw(*sizes[-axes:], seed=1 + i))
    ours = dict(theirs.named_parameters())
    x, cotangent = torch.from_numpy(draw(*sizes)).requires_grad_(), torch.from_numpy(draw(*sizes, seed=9))
    got = layer_norm(x, sizes[-axes:], ours.get("weight"), ours.get("bias"), 1e-3)
    want = theirs(x)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)
    leaves = [x, *ours.values()]
    slopes = [torch.autograd.grad(out, leaves, cotangent) for out in (got, want)]
    torch.testing.assert_close(*slopes, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_it_is_torchs_in_every_dtype(dtype, size):
    x, gain, shift = (torch.from_numpy(draw(*s, seed=i)).to(dtype) for i, s in enumerate([(6, 1000), (1000,), (1000,)]))
    got, want = (f(size * x, (1000,), gain, shift) for f in (layer_norm, nn.functional.layer_norm))
    assert got.dtype == dtype
    torch.testing.assert_close(got, want)


def test_the_published_example():
    """codertimo/BERT-pytorch#30: torch gives these, x.std() + eps gives 1.5, -0.5, -0.5, -0.5."""
    got = layer_norm(torch.tensor([1.0, 0.0, 0.0, 0.0]), (4,))
    assert [round(f, 4) for f in got.tolist()] == [1.7320, -0.5773, -0.5773, -0.5773]


def test_two_features_become_plus_and_minus_one():
    x = torch.tensor([[3.0, -7.0], [0.0, 0.25]], dtype=torch.float64)
    want = torch.tensor([[1.0, -1.0], [-1.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(layer_norm(x, (2,), eps=1e-12), want)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
def test_a_row_of_plus_and_minus_c_comes_out_as_c_over_the_root(size):
    x = size * torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    want = x / math.sqrt(size**2 + 1e-5)
    torch.testing.assert_close(layer_norm(x, (4,)), want, rtol=1e-14, atol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("number", [0.0, 1.0, -3.5, 1024.0])
def test_a_constant_row_becomes_the_shift(number, dtype):
    x = torch.full((2, 3, 6), number, dtype=dtype, requires_grad=True)
    shift = torch.arange(6).to(dtype)
    out = layer_norm(x, (6,), torch.full((6,), 5.0, dtype=dtype), shift)
    assert torch.equal(out, shift.expand(2, 3, 6))
    out[..., 0].sum().backward()
    assert x.grad is not None
    assert bool(torch.isfinite(x.grad).all())


def test_the_gradient_at_a_constant_row_is_centred_over_the_root():
    x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    layer_norm(x, (4,))[0].backward()
    want = torch.tensor([0.75, -0.25, -0.25, -0.25], dtype=torch.float64) / math.sqrt(1e-5)
    torch.testing.assert_close(x.grad, want)


def test_the_jacobian_is_that_of_the_textbook():
    """(1/s)·(I - 1/D - x̂x̂ᵀ/D), with x̂ = (x - μ)/s: Ba et al.'s formula differentiated by hand."""
    x = torch.from_numpy(draw(5))
    got = torch.autograd.functional.jacobian(lambda row: layer_norm(row, (5,), eps=0.3), x)
    s = math.sqrt(float(x.var(unbiased=False)) + 0.3)
    x_hat = (x - x.mean()) / s
    want = (torch.eye(5, dtype=x.dtype) - 1 / 5 - torch.outer(x_hat, x_hat) / 5) / s
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)


def test_a_mean_of_ten_thousand_leaves_three_digits_in_float32():
    x = torch.from_numpy(draw(50, 64) + 1e4).float()
    want = by_loops(x.double().numpy(), 1, np.ones(64), np.zeros(64), 1e-5)
    unit = 2.0**-10  # of numbers about 10⁴
    assert float(np.abs(layer_norm(x, (64,)).numpy() - want).max()) <= 2 * unit


@pytest.mark.parametrize("sizes", [(3, 4), (3, 1), (5, 3), (4,), ()])
def test_an_input_of_another_width_is_refused(sizes):
    with pytest.raises(ValueError, match=r"x ends in \(.*\), want \(5,\)"):
        layer_norm(torch.zeros(sizes), (5,), torch.ones(5), torch.zeros(5))


def test_axes_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"x ends in \(4, 3\), want \(3, 4\)"):
        layer_norm(torch.zeros(2, 4, 3), (3, 4))
