"""Inputs that do not fit together are refused: also an axis of size 1, which PyTorch would stretch to fit."""

import pytest
import torch

from attnconf.reference.attention import attend
from attnconf.reference.multi_head_attention import multi_head_attention

Q, K, V = (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)
MISFITS = {
    "wider keys": (Q, (2, 3, 7, 8), V, "queries are 4 wide, keys 8"),
    "queries of width one": ((2, 3, 5, 1), K, V, "queries are 1 wide, keys 4"),
    "keys of width one": (Q, (2, 3, 7, 1), V, "queries are 4 wide, keys 1"),
    "a value too few": (Q, K, (2, 3, 6, 6), "7 keys, but 6 values"),
    "one value": (Q, K, (2, 3, 1, 6), "7 keys, but 1 values"),
    "one key": (Q, (2, 3, 1, 4), V, "1 keys, but 7 values"),
    "one sample of keys": (Q, (1, 3, 7, 4), (1, 3, 7, 6), r"\[2, 3\], \[1, 3\] and \[1, 3\]"),
    "one head of keys": (Q, (2, 1, 7, 4), (2, 1, 7, 6), r"\[2, 3\], \[2, 1\] and \[2, 1\]"),
    "one sample of queries": ((1, 3, 5, 4), K, V, r"\[1, 3\], \[2, 3\] and \[2, 3\]"),
    "other values": (Q, K, (1, 3, 7, 6), r"\[2, 3\], \[2, 3\] and \[1, 3\]"),
    "unbatched queries": ((5, 4), K, V, r"\[\], \[2, 3\] and \[2, 3\]"),
}
TOO_LARGE = {"queries": (6, 7), "keys": (5, 8), "samples": (3, 1, 1, 7), "heads": (4, 5, 7), "axes": (1, 2, 3, 5, 7)}


@pytest.mark.parametrize(("q", "k", "v", "message"), MISFITS.values(), ids=MISFITS)
def test_queries_keys_and_values_that_do_not_fit_are_refused_with_their_sizes(q, k, v, message):
    with pytest.raises(ValueError, match=message):
        attend(torch.zeros(q), torch.zeros(k), torch.zeros(v))


@pytest.mark.parametrize("q", [Q, (2, 3, 1, 4)], ids=["many queries", "one query"])
@pytest.mark.parametrize("shape", TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_mask_or_bias_larger_than_the_scores_is_refused(shape, q):
    inputs = torch.zeros(q), torch.zeros(K), torch.zeros(V)
    with pytest.raises(RuntimeError):
        attend(*inputs, mask=torch.ones(shape, dtype=torch.bool))
    with pytest.raises(RuntimeError):
        attend(*inputs, bias=torch.zeros(shape))


@pytest.mark.parametrize("mask", [torch.ones(5, 7), torch.ones(5, 7, dtype=torch.long)], ids=["float", "integer"])
def test_a_mask_that_is_not_boolean_is_refused(mask):
    with pytest.raises((TypeError, RuntimeError)):
        attend(torch.zeros(Q), torch.zeros(K), torch.zeros(V), mask=mask)


@pytest.mark.parametrize("widths", [(1, 8, 9), (6, 1, 9), (6, 8, 1), (5, 8, 9)], ids=str)
def test_inputs_as_wide_as_no_matrix_are_refused(widths):
    weights = {f"{name}.weight": torch.zeros(12, width) for name, width in zip("qkv", (6, 8, 9), strict=True)}
    weights["out.weight"] = torch.zeros(10, 12)
    query, key, value = (torch.zeros(2, length, width) for length, width in zip((5, 7, 7), widths, strict=True))
    with pytest.raises(RuntimeError):
        multi_head_attention(query, key, value, weights, num_heads=3)
