"""RMS normalization against loops written from the formula, torch.nn, closed forms and other ways to write it."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from attnconf.reference.layer_norm import layer_norm
from attnconf.reference.rms_norm import rms_norm

torch.set_num_threads(1)

SHAPES = [(5,), (1, 4), (3, 2), (2, 5, 3), (2, 3, 4, 7), (4, 1)]


def draw(*shape, seed=0):
    return np.random.default_rng((seed, *shape)).normal(size=shape)


@pytest.mark.parametrize("eps", [1.0, 1e-6, 1e-12])
@pytest.mark.parametrize("sizes", SHAPES)
def test_it_is_what_loops_give(sizes, eps):
    x, gain = draw(*sizes) + 1, draw(sizes[-1], seed=1)
    got = rms_norm(torch.from_numpy(x), torch.from_numpy(gain), eps).numpy()
    for at in np.ndindex(x.shape[:-1]):
        root = math.sqrt(math.fsum(float(f) ** 2 for f in x[at]) / sizes[-1] + eps)
        for i, feature in enumerate(x[at]):
            assert got[at][i] == pytest.approx(feature / root * gain[i], rel=1e-13)


@pytest.mark.parametrize("eps", [1.0, 1e-8])
@pytest.mark.parametrize("sizes", SHAPES)
def test_with_eps_outside_it_is_what_loops_give(sizes, eps):
    x, gain = draw(*sizes) + 1, draw(sizes[-1], seed=1)
    got = rms_norm(torch.from_numpy(x), torch.from_numpy(gain), eps, "outside").numpy()
    for at in np.ndindex(x.shape[:-1]):
        divisor = math.sqrt(math.fsum(float(f) ** 2 for f in x[at]) / sizes[-1]) + eps
        for i, feature in enumerate(x[at]):
            assert got[at][i] == pytest.approx(feature / divisor * gain[i], rel=1e-13)


@pytest.mark.parametrize("sizes", SHAPES)
def test_it_is_torchs(sizes):
    """Output and both gradients."""
    theirs = nn.RMSNorm(sizes[-1], eps=1e-3, dtype=torch.float64)
    theirs.weight.data = torch.from_numpy(draw(sizes[-1], seed=1))
    x, cotangent = torch.from_numpy(draw(*sizes)).requires_grad_(), torch.from_numpy(draw(*sizes, seed=9))
    got, want, leaves = rms_norm(x, theirs.weight, 1e-3), theirs(x), [x, theirs.weight]
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)
    slopes = [torch.autograd.grad(out, leaves, cotangent) for out in (got, want)]
    torch.testing.assert_close(*slopes, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1.0, 300.0, 1000.0])
def test_it_is_torchs_in_every_dtype(dtype, size):
    x, gain = torch.from_numpy(draw(6, 1000)).to(dtype), torch.from_numpy(draw(1000)).to(dtype)
    got, want = rms_norm(size * x, gain), nn.functional.rms_norm(size * x, (1000,), gain, 1e-6)
    assert got.dtype == dtype
    torch.testing.assert_close(got, want)


def test_it_is_the_unit_vector_times_the_root_of_the_width():
    """As torchtune's test has it."""
    x = torch.from_numpy(draw(3, 7))
    want = nn.functional.normalize(x, dim=-1) * math.sqrt(7)
    torch.testing.assert_close(rms_norm(x, torch.ones(7, dtype=x.dtype), 1e-14), want, rtol=1e-12, atol=1e-12)


def test_of_centred_tokens_it_is_layer_normalization():
    x = torch.from_numpy(draw(3, 7))
    x = x - x.mean(dim=-1, keepdim=True)
    torch.testing.assert_close(rms_norm(x, torch.ones(7, dtype=x.dtype), 1e-5), layer_norm(x, (7,)))


def test_an_offset_changes_the_output():
    x, ones = torch.from_numpy(draw(3, 7)), torch.ones(7, dtype=torch.float64)
    assert float((rms_norm(x + 1, ones) - rms_norm(x, ones)).abs().min(dim=-1).values.max()) > 0.01


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
def test_a_row_of_c_comes_out_as_c_over_the_root(size):
    x = torch.full((4,), size, dtype=torch.float64)
    torch.testing.assert_close(rms_norm(x, torch.ones(4, dtype=x.dtype), 1e-6), x / math.sqrt(size**2 + 1e-6))


def test_zeros_stay_zero_with_the_gradient_of_a_division_by_the_root():
    x = torch.zeros(2, 4, dtype=torch.float64, requires_grad=True)
    out = rms_norm(x, torch.full((4,), 3.0, dtype=torch.float64), 1e-6)
    assert torch.equal(out, torch.zeros(2, 4, dtype=torch.float64))
    out.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((2, 4), 3.0 / math.sqrt(1e-6), dtype=torch.float64))


def test_zeros_have_the_gradient_of_a_division_by_eps_where_that_stands_outside():
    x = torch.zeros(2, 4, dtype=torch.float64, requires_grad=True)
    out = rms_norm(x, torch.full((4,), 3.0, dtype=torch.float64), 1e-8, "outside")
    assert torch.equal(out, torch.zeros(2, 4, dtype=torch.float64))
    out.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((2, 4), 3.0 / 1e-8, dtype=torch.float64))


def test_the_jacobian_is_that_of_the_textbook():
    """(1/r)·(I - x̂x̂ᵀ/D), with x̂ = x/r, differentiated by hand."""
    x = torch.from_numpy(draw(5))
    got = torch.autograd.functional.jacobian(lambda row: rms_norm(row, torch.ones(5, dtype=x.dtype), 0.3), x)
    r = math.sqrt(float(x.square().mean()) + 0.3)
    want = (torch.eye(5, dtype=x.dtype) - torch.outer(x / r, x / r) / 5) / r
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)


def test_half_precision_is_rounded_once():
    x, gain = torch.from_numpy(draw(64, 100)).bfloat16(), torch.from_numpy(draw(100)).bfloat16()
    wide = x.double().numpy()
    want = wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + 1e-6) * gain.double().numpy()
    alike = rms_norm(x, gain) == torch.from_numpy(want).bfloat16()
    assert float(alike.double().mean()) > 0.999


@pytest.mark.parametrize("sizes", [(3, 4), (3, 1), (5, 3), ()])
def test_an_input_of_another_width_is_refused(sizes):
    with pytest.raises(ValueError, match=r"x ends in \(.*\), want \(5,\)"):
        rms_norm(torch.zeros(sizes), torch.ones(5))
