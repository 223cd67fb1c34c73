"""The reference's masks against loops over queries and keys, and against PyTorch's own."""

import pytest
import torch
from torch import nn

from attnconf.reference.mask_making import as_keys, as_numbers, decoder_mask, told_by_ids, told_by_lengths, up_to_own

IDS = torch.tensor([[4, 9, 1, 6, 2], [1, 7, 3, 1, 5], [8, 8, 0, 1, 1]])  # 1 is padding


@pytest.mark.parametrize(("queries", "keys", "offset"), [(5, 5, 0), (1, 1, 0), (3, 7, 0), (3, 7, 4), (6, 2, -4)])
def test_causality_is_that_of_a_loop(queries, keys, offset):
    want = [[key <= query + offset for key in range(keys)] for query in range(queries)]
    assert up_to_own(queries, keys, offset).tolist() == want


def test_causality_is_that_of_pytorch():
    hidden = nn.Transformer.generate_square_subsequent_mask(6) != 0
    assert torch.equal(up_to_own(6, 6), ~hidden)


def test_padding_is_told_by_ids_and_by_lengths():
    assert told_by_ids(IDS, 1).tolist() == [[token != 1 for token in row] for row in IDS.tolist()]
    assert told_by_lengths(torch.tensor([3, 1, 4]), 4).int().tolist() == [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]


def test_padding_is_hidden_from_each_query():
    real = told_by_ids(IDS, 1)
    want = [[[row[key] for key in range(5)] for _ in range(5)] for row in real.tolist()]
    assert as_keys(real).tolist() == want


def test_a_decoder_has_both():
    real = told_by_ids(IDS, 1)
    want = [[[row[key] and key <= query for key in range(5)] for query in range(5)] for row in real.tolist()]
    assert decoder_mask(real).tolist() == want


def test_numbers_are_one_and_zero():
    assert as_numbers(up_to_own(2, 2), torch.float64).tolist() == [[1.0, 0.0], [1.0, 1.0]]
