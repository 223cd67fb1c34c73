"""Dropout of the reference: which weights are dropped, how the others grow, and what stays as it is.

Counts are judged to 5 standard deviations, of √(p(1 - p)n) each, at a fixed seed.
"""

import math

import pytest
import torch

from attnconf.reference.attention import attend, drop

B, H, L, S, F = 2, 3, 61, 67, 5
PROBABILITIES = [0.1, 0.5, 0.75]


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2014)
        yield


def uniform_inputs():
    """Return q, k, v for which every weight is 1/S before dropout."""
    q = torch.zeros(B, H, L, 4, dtype=torch.float64)
    return q, torch.randn(B, H, S, 4, dtype=torch.float64), torch.randn(B, H, S, F, dtype=torch.float64)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_share_of_dropped_weights_is_the_probability(p):
    _, weights = attend(*uniform_inputs(), dropout=p)
    n, dropped = weights.numel(), (weights == 0.0).sum().item()
    assert abs(dropped - p * n) < 5 * math.sqrt(p * (1 - p) * n)


@pytest.mark.parametrize("axis", range(4))
def test_weights_are_dropped_one_by_one_along_every_axis(axis):
    p = 0.5
    _, weights = attend(*uniform_inputs(), dropout=p)
    kept = (weights != 0.0).narrow(axis, 0, 2)
    alike = (kept.select(axis, 0) == kept.select(axis, 1)).double()
    assert abs(alike.mean().item() - 0.5) < 5 * math.sqrt(0.25 / alike.numel())


@pytest.mark.parametrize("p", PROBABILITIES)
def test_a_weight_that_is_kept_is_divided_by_one_minus_p(p):
    _, weights = attend(*uniform_inputs(), dropout=p)
    kept = weights[weights != 0.0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (S * (1 - p))), rtol=1e-12, atol=0)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_the_output_is_right_on_average(p):
    """Each output is a sum of S independent terms; their mean over L has a standard deviation we can state."""
    q, k, v = uniform_inputs()
    mean = attend(q, k, v, dropout=p)[0].mean(dim=-2)
    deviation = torch.sqrt((v**2).sum(dim=-2) / S**2 * p / (1 - p) / L)
    assert ((mean - v.mean(dim=-2)).abs() < 5 * deviation).all()


def test_the_returned_weights_are_those_that_multiply_the_values():
    q, k, v = uniform_inputs()
    out, weights = attend(q, k, v, dropout=0.5)
    torch.testing.assert_close(out, weights @ v, rtol=0, atol=1e-12)


def test_the_gradient_sees_the_weights_that_were_dropped():
    q, k, v = uniform_inputs()
    out, weights = attend(q, k, v.requires_grad_(), dropout=0.5)
    cotangent = torch.randn_like(out)
    (dv,) = torch.autograd.grad(out, v, cotangent)
    torch.testing.assert_close(dv, weights.transpose(-2, -1) @ cotangent, rtol=0, atol=1e-12)


def test_two_calls_drop_different_weights():
    inputs = uniform_inputs()
    assert not torch.equal(attend(*inputs, dropout=0.5)[1], attend(*inputs, dropout=0.5)[1])


def test_a_probability_of_zero_draws_nothing():
    weights = torch.rand(3, 4)
    before = torch.get_rng_state()
    assert torch.equal(drop(weights, 0.0), weights)
    assert torch.equal(torch.get_rng_state(), before)
    drop(weights, 0.5)
    assert not torch.equal(torch.get_rng_state(), before)
