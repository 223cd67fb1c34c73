"""Attention where the answer is known without computing it, and where careless arithmetic breaks down."""

import math

import pytest
import torch

from attnconf.reference.attention import attend
from attnconf.reference.masks import causal

B, H, L, S, E, F = 2, 3, 5, 7, 4, 6
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
# Two ways of leaving queries 0 and 1 without a key, and query i > 1 with the first i - 1.
LATE = causal(L, S, -2)
EMPTY = {"mask": {"mask": LATE}, "bias": {"bias": torch.zeros(L, S).masked_fill(~LATE, -math.inf)}}


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def inputs(queries=L, keys=S):
    return draw(B, H, queries, E, seed=1), draw(B, H, keys, E, seed=2), draw(B, H, keys, F, seed=3)


def close(got, want, bound=1e-12):
    torch.testing.assert_close(got, want, rtol=0, atol=bound)


def test_a_query_of_zero_gives_the_mean_of_the_values():
    _, k, v = inputs()
    out, weights = attend(torch.zeros(B, H, L, E, dtype=v.dtype), k, v)
    close(out, v.mean(dim=-2, keepdim=True).expand(B, H, L, F))
    close(weights, torch.full((B, H, L, S), 1 / 7, dtype=v.dtype))


def test_a_query_of_zero_gives_the_mean_of_the_values_it_may_see():
    _, k, v = inputs()
    out, _ = attend(torch.zeros(B, H, L, E, dtype=v.dtype), k, v, mask=causal(L, S))
    for i in range(L):
        close(out[..., i, :], v[..., : i + 1, :].mean(dim=-2))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_single_key_gives_its_value_to_the_bit(dtype):
    q, k, v = (x.to(dtype) for x in inputs(keys=1))
    out, weights = attend(100 * q, k, v)
    assert torch.equal(out, v.expand(B, H, L, F))
    assert torch.equal(weights, torch.ones(B, H, L, 1, dtype=dtype))


@pytest.mark.parametrize("scale", [None, 2.0, -0.5])
def test_shifting_all_keys_by_one_vector_changes_nothing(scale):
    q, k, v = inputs()
    close(attend(q, k + 3 * draw(E, seed=4), v, scale=scale)[0], attend(q, k, v, scale=scale)[0])


def test_two_scores_that_differ_by_log_three_share_as_one_to_three():
    k, v = torch.tensor([[0.0], [math.log(3)]]), torch.tensor([[0.0], [8.0]])
    close(attend(torch.ones(1, 1), k, v)[0], torch.tensor([[6.0]]), bound=1e-6)


@pytest.mark.parametrize("width", [1, 4, 9, 64])
def test_the_default_scale_is_one_over_the_root_of_the_width(width):
    q, k = torch.ones(1, width, dtype=torch.float64), torch.zeros(2, width, dtype=torch.float64)
    k[1] = math.log(3) / math.sqrt(width)  # so that q·k is √width · log 3
    close(attend(q, k, k)[1], torch.tensor([[0.25, 0.75]], dtype=torch.float64))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("scores", [(1e4, 0, -1e4), (-1e4, -1.1e4, -1.2e4), (1e4, 9e3, 8e3)], ids=str)
def test_scores_of_ten_thousand_pick_the_largest_and_stay_finite(dtype, scores):
    v = inputs(keys=3)[2][0, 0].to(dtype)
    out, weights = attend(torch.ones(1, 1).to(dtype), torch.tensor(scores).to(dtype)[:, None], v, scale=1.0)
    assert weights.tolist() == [[1.0, 0.0, 0.0]]
    assert torch.equal(out, v[:1])


def test_half_precision_stands_products_that_overflow_before_they_are_scaled():
    signs = torch.ones(32)
    q = torch.stack([300 * signs, -300 * signs]).half()
    k = torch.stack([30 * signs, 33 * signs, 27 * signs, 30 * signs]).half()
    v = torch.tensor([[1.0], [2.0], [4.0], [8.0]]).half()
    products = q.double() @ k.double().T
    assert products.abs().min() > torch.finfo(torch.float16).max  # so the stimulus is one
    assert products.abs().max() / 32**0.5 < torch.finfo(torch.float16).max
    assert attend(q, k, v)[0].tolist() == [[2.0], [4.0]]


def test_half_precision_stays_finite_for_entries_up_to_three_hundred():
    width = 64
    q, k, v = (300 * draw(n, width, seed=seed).clamp(-1, 1).half() for n, seed in ((3, 1), (5, 2), (5, 3)))
    scaled = q.double() @ k.double().T / width**0.5
    assert 65504 / width**0.5 < scaled.abs().max() < 65504  # only the unscaled product overflows
    out, weights = attend(q, k, v)
    assert out.isfinite().all()
    assert torch.equal(weights.argmax(dim=-1), scaled.argmax(dim=-1))


@pytest.mark.parametrize("options", EMPTY.values(), ids=EMPTY)
def test_a_query_without_keys_gives_zeros_and_leaves_the_others_alone(options):
    q, k, v = inputs()
    out, weights = attend(q, k, v, **options)
    assert torch.equal(out[..., :2, :], torch.zeros(B, H, 2, F, dtype=v.dtype))
    assert torch.equal(weights[..., :2, :], torch.zeros(B, H, 2, S, dtype=v.dtype))
    close(weights[..., 2:, :].sum(dim=-1), torch.ones(B, H, L - 2, dtype=v.dtype))
    for i in range(2, L):
        close(out[..., i : i + 1, :], attend(q[..., i : i + 1, :], k[..., : i - 1, :], v[..., : i - 1, :])[0])


@pytest.mark.parametrize("options", EMPTY.values(), ids=EMPTY)
def test_a_query_without_keys_has_zero_gradient_and_spoils_no_other(options):
    q, k, v = (x.requires_grad_() for x in inputs())
    cotangent = draw(B, H, L, F, seed=5)
    dq, dk, dv = torch.autograd.grad(attend(q, k, v, **options)[0], (q, k, v), cotangent)
    assert torch.equal(dq[..., :2, :], torch.zeros(B, H, 2, E, dtype=v.dtype))
    seen = attend(q[..., 2:, :], k, v, mask=LATE[2:])[0]
    for got, want in zip((dq, dk, dv), torch.autograd.grad(seen, (q, k, v), cotangent[..., 2:, :]), strict=True):
        close(got, want)


@pytest.mark.parametrize("poison", [1e4, -1e4])
def test_what_lies_under_the_mask_does_not_matter_to_the_bit(poison):
    q, k, v = inputs()
    mask = torch.arange(S) < 4
    poisoned = [torch.where(mask[:, None], x, poison) for x in (k, v)]
    assert torch.equal(attend(q, *poisoned, mask=mask)[0], attend(q, k, v, mask=mask)[0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_dtype_of_the_inputs_is_kept(dtype):
    q, k, v = (x.to(dtype) for x in inputs())
    out, weights = attend(q, k, v, causal(L, S), torch.zeros(L, S).to(dtype))
    assert out.dtype == weights.dtype == dtype


@pytest.mark.parametrize(("queries", "batch"), [(0, B), (L, 0)])
def test_no_queries_or_no_samples_give_an_empty_output(queries, batch):
    q, k, v = (x[:batch] for x in inputs(queries=queries))
    assert attend(q, k, v)[0].shape == (batch, H, queries, F)
