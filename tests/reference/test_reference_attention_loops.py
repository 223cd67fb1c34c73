"""Attention against loops over plain numbers, written from the formula; they share no code with the reference."""

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from attnconf.reference.attention import attend


class Sizes(NamedTuple):
    """Pairwise distinct in every case, so that no two axes can be mistaken for one another."""

    B: int
    H: int
    L: int
    S: int
    E: int
    F: int


SIZES = {
    "distinct": Sizes(B=2, H=3, L=5, S=7, E=4, F=6),
    "more queries than keys": Sizes(B=3, H=2, L=7, S=4, E=6, F=5),
    "one query": Sizes(B=2, H=3, L=1, S=7, E=5, F=4),
    "one key": Sizes(B=3, H=2, L=5, S=1, E=4, F=6),
    "width one": Sizes(B=2, H=4, L=3, S=5, E=1, F=7),
}
OPTIONS = {
    "plain": {},
    "scale": {"scale": 0.7},
    "negative scale": {"scale": -1.3},
    "mask": {"mask": "BHLS"},
    "bias": {"bias": "BHLS"},
    "mask, bias and scale": {"mask": "BHLS", "bias": "BHLS", "scale": 0.4},
}
# A capital keeps an axis, 1 makes it of size one, and a missing letter leaves the axis out.
BROADCASTS = ["S", "LS", "L1", "1S", "HLS", "H1S", "B11S", "B1LS", "1HLS", "BH11"]
BOUNDS = {torch.float64: 1e-12, torch.float32: 1e-5}


def weights_of_one_query(q, keys, allowed, bias, scale):
    """Return e^(score of key j) / Σ e^(score of an allowed key) for each allowed key, 0 for the others."""
    e = []
    for j, key in enumerate(keys):
        score = scale * sum(float(a) * float(b) for a, b in zip(q, key, strict=True)) + float(bias[j])
        e.append(math.exp(score) if allowed[j] else 0.0)
    total = sum(e)
    return [x / total if total > 0.0 else 0.0 for x in e]


def attend_by_loops(q, k, v, mask=None, bias=None, scale=None):
    """Return (output, weights) of softmax(scale · q kᵀ + bias) v, one number after the other, in double precision."""
    (B, H, L, E), S, F = q.shape, k.shape[-2], v.shape[-1]
    allowed = np.broadcast_to(True if mask is None else mask, (B, H, L, S))
    added = np.broadcast_to(0.0 if bias is None else bias, (B, H, L, S))
    scale = 1.0 / math.sqrt(E) if scale is None else scale
    weights, out = np.zeros((B, H, L, S)), np.zeros((B, H, L, F))
    for b, h, i in np.ndindex(B, H, L):
        weights[b, h, i] = weights_of_one_query(q[b, h, i], k[b, h], allowed[b, h, i], added[b, h, i], scale)
        for j, f in np.ndindex(S, F):
            out[b, h, i, f] += weights[b, h, i, j] * float(v[b, h, j, f])
    return out, weights


def draw_inputs(sizes, dtype=torch.float64):
    """Return q, k, v: signed, of the order of one."""
    rng = np.random.default_rng(20170612)
    B, H, L, S, E, F = sizes
    shapes = [(B, H, L, E), (B, H, S, E), (B, H, S, F)]
    return [torch.from_numpy(rng.normal(size=shape)).to(dtype) for shape in shapes]


def shape_of(axes, sizes):
    return tuple(1 if axis == "1" else getattr(sizes, axis) for axis in axes)


def draw_mask(axes, sizes):
    """Return a random mask; if it is a full one, query 0 of the first sample's first head sees no key."""
    mask = np.random.default_rng(1706).random(shape_of(axes, sizes)) < 0.6
    if axes == "BHLS":
        mask[0, 0, 0] = False
    return torch.from_numpy(mask)


def draw_bias(axes, sizes, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(3762).normal(size=shape_of(axes, sizes))).to(dtype)


def draw_options(names, sizes, dtype):
    options = dict(names)
    if "mask" in names:
        options["mask"] = draw_mask(names["mask"], sizes)
    if "bias" in names:
        options["bias"] = draw_bias(names["bias"], sizes, dtype)
    return options


def assert_equal_to_loops(q, k, v, **options):
    """Compare output and weights; shapes and dtypes must agree too, and NaN agrees with nothing."""
    plain = {name: x.numpy() if isinstance(x, torch.Tensor) else x for name, x in options.items()}
    want = attend_by_loops(q.numpy(), k.numpy(), v.numpy(), **plain)
    for got, loops in zip(attend(q, k, v, **options), want, strict=True):
        torch.testing.assert_close(got, torch.from_numpy(loops).to(q.dtype), rtol=0, atol=BOUNDS[q.dtype])


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_attend_is_the_formula(sizes, options, dtype):
    assert_equal_to_loops(*draw_inputs(sizes, dtype), **draw_options(options, sizes, dtype))


@pytest.mark.parametrize("axes", BROADCASTS)
def test_a_mask_broadcasts_from_the_right(axes):
    sizes = SIZES["distinct"]
    assert_equal_to_loops(*draw_inputs(sizes), mask=draw_mask(axes, sizes))


@pytest.mark.parametrize("axes", BROADCASTS)
def test_a_bias_broadcasts_from_the_right(axes):
    sizes = SIZES["distinct"]
    assert_equal_to_loops(*draw_inputs(sizes), bias=draw_bias(axes, sizes))


def test_a_bias_of_minus_infinity_is_a_mask():
    sizes = SIZES["distinct"]
    mask = draw_mask("BHLS", sizes)
    bias = torch.where(mask, draw_bias("BHLS", sizes), float("-inf"))
    q, k, v = draw_inputs(sizes)
    want = attend_by_loops(q.numpy(), k.numpy(), v.numpy(), mask.numpy(), draw_bias("BHLS", sizes).numpy())
    for got, loops in zip(attend(q, k, v, bias=bias), want, strict=True):
        torch.testing.assert_close(got, torch.from_numpy(loops), rtol=0, atol=1e-12)


@pytest.mark.parametrize("leading", [(), (6,), (2, 1, 3)], ids=str)
def test_any_leading_axes_will_do(leading):
    sizes = SIZES["distinct"]
    q, k, v = draw_inputs(sizes)
    mask = draw_mask("BHLS", sizes)
    want = attend_by_loops(q.numpy(), k.numpy(), v.numpy(), mask.numpy())
    pick = (lambda x: x[1, 2]) if leading == () else (lambda x: x.reshape(*leading, *x.shape[2:]))
    for got, loops in zip(attend(pick(q), pick(k), pick(v), pick(mask)), want, strict=True):
        torch.testing.assert_close(got, pick(torch.from_numpy(loops)), rtol=0, atol=1e-12)


def test_the_masks_drawn_here_have_rows_without_keys_and_rows_with_some():
    for sizes in SIZES.values():
        seen = draw_mask("BHLS", sizes).any(dim=-1)
        assert seen.any()
        assert not seen.all()
