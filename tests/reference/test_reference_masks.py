"""The masks against loops that ask, for each query and key, whether the one may look at the other."""

import numpy as np
import pytest
import torch

from attnconf.reference.masks import add_bias, causal, hide, intersect, key_padding

OFFSETS = [-3, -1, 0, 1, 2, 4]
SIZES = [(5, 5), (2, 5), (5, 2), (1, 4), (4, 1), (1, 1)]


def draw_mask(*shape):
    return np.random.default_rng(sum(shape)).random(shape) < 0.5


def intersect_by_loops(masks, shape):
    """Return the mask, of the given shape, of what every one of the masks allows."""
    full = [np.broadcast_to(mask, shape) for mask in masks]
    allowed = np.zeros(shape, dtype=bool)
    for index in np.ndindex(*shape):
        allowed[index] = all(bool(mask[index]) for mask in full)
    return allowed


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_causal_allows_the_keys_up_to_the_query(queries, keys, offset):
    mask = causal(queries, keys, offset)
    assert mask.shape == (queries, keys)
    assert mask.dtype == torch.bool
    for i in range(queries):
        position = offset + i  # of query i, where offset keys come before query 0
        assert mask[i].tolist() == [position >= j for j in range(keys)]


def test_causal_is_aligned_top_left_unless_told_otherwise():
    assert causal(2, 3).tolist() == [[True, False, False], [True, True, False]]


@pytest.mark.parametrize(("queries", "keys"), SIZES)
def test_an_offset_of_keys_minus_queries_lets_the_last_query_see_every_key(queries, keys):
    rows = causal(queries, keys, keys - queries).sum(dim=1).tolist()
    assert rows[-1] == keys
    assert rows == [max(0, keys - (queries - 1 - i)) for i in range(queries)]


def test_key_padding_repeats_a_samples_row_for_each_head_and_query():
    B, H, L, S = 2, 3, 5, 7
    rows = draw_mask(B, S)
    mask = key_padding(torch.from_numpy(rows))
    assert mask.shape == (B, 1, 1, S)
    for b, h, i, j in np.ndindex(B, H, L, S):
        assert bool(mask.expand(B, H, L, S)[b, h, i, j]) == bool(rows[b, j])


@pytest.mark.parametrize("shapes", [((5, 7), (5, 7)), ((2, 1, 1, 7), (5, 7)), ((1, 3, 5, 1), (2, 1, 1, 7))], ids=str)
def test_intersect_allows_what_both_allow(shapes):
    first, second = (draw_mask(*shape) for shape in shapes)
    shape = np.broadcast_shapes(*shapes)
    got = intersect(torch.from_numpy(first), torch.from_numpy(second))
    assert got.dtype == torch.bool
    np.testing.assert_array_equal(got.numpy(), intersect_by_loops([first, second], shape), strict=True)


def test_intersect_with_nothing_is_the_other_mask():
    mask = torch.from_numpy(draw_mask(2, 1, 5, 7))
    assert torch.equal(intersect(mask, None), mask)
    assert torch.equal(intersect(None, mask), mask)
    assert intersect(None, None) is None


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (2, 1, 1, 7), (5, 7), (7,), (3, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_hide_puts_minus_infinity_where_the_mask_is_false_and_leaves_the_rest(dtype, shape):
    scores = torch.from_numpy(np.random.default_rng(7).normal(size=(2, 3, 5, 7))).to(dtype)
    mask = draw_mask(*shape)
    got = hide(scores, torch.from_numpy(mask))
    assert got.dtype == dtype
    assert got.shape == scores.shape
    for index in np.ndindex(2, 3, 5, 7):
        want = scores[index].item() if np.broadcast_to(mask, scores.shape)[index] else float("-inf")
        assert got[index].item() == want


@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (2, 1, 1, 7), (3, 5, 1), (7,)], ids=str)
def test_add_bias_adds_the_bias_as_it_is(shape):
    rng = np.random.default_rng(11)
    scores, bias = rng.normal(size=(2, 3, 5, 7)), rng.normal(size=shape)
    got = add_bias(torch.from_numpy(scores), torch.from_numpy(bias))
    full = np.broadcast_to(bias, scores.shape)
    for index in np.ndindex(*scores.shape):
        assert got[index].item() == scores[index] + full[index]


def test_no_mask_and_no_bias_change_nothing():
    scores = torch.from_numpy(np.random.default_rng(13).normal(size=(2, 3)))
    assert torch.equal(hide(scores, None), scores)
    assert torch.equal(add_bias(scores, None), scores)
