"""Learned positions against loops, one-hot products and finite tables."""

import numpy as np
import pytest
import torch

from attnconf.reference.learned import learned


def draw(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize(("B", "L", "d", "rows"), [(2, 5, 3, 7), (1, 1, 1, 1), (4, 4, 6, 4), (3, 2, 5, 9)])
def test_row_p_is_added_to_token_p(B, L, d, rows):
    x, table = draw(B, L, d), draw(rows, d)
    got = learned(torch.from_numpy(x), torch.from_numpy(table))
    for b, p, feature in np.ndindex(B, L, d):
        assert got[b, p, feature].item() == x[b, p, feature] + table[p, feature]


@pytest.mark.parametrize("positions", [[4, 0, 2], [[4, 0, 2], [1, 1, 6]]], ids=str)
def test_given_positions_are_one_hot_rows_times_the_table(positions):
    x, table = draw(2, 3, 5), draw(7, 5)
    one_hot = np.eye(7)[np.broadcast_to(np.array(positions), (2, 3))]
    got = learned(torch.from_numpy(x), torch.from_numpy(table), torch.tensor(positions))
    np.testing.assert_allclose(got.numpy(), x + one_hot @ table, atol=1e-15)


def test_the_gradient_is_that_of_the_one_hot_product():
    table = torch.from_numpy(draw(7, 5)).requires_grad_()
    x = torch.zeros(2, 3, 5, dtype=torch.float64, requires_grad=True)
    positions, cotangent = [[4, 0, 0], [1, 4, 6]], draw(2, 3, 5)
    (learned(x, table, torch.tensor(positions)) * torch.from_numpy(cotangent)).sum().backward()
    want = np.einsum("blr,bld->rd", np.eye(7)[np.array(positions)], cotangent)
    np.testing.assert_allclose(table.grad.numpy(), want, atol=1e-15)
    np.testing.assert_array_equal(x.grad.numpy(), cotangent)


def test_a_torch_embedding_gives_the_same():
    x, embedding = torch.randn(2, 4, 6), torch.nn.Embedding(9, 6)
    assert torch.equal(learned(x, embedding.weight), x + embedding(torch.arange(4)))


@pytest.mark.parametrize("positions", [[0, -1, 2], [0, 1, 7], [[0, 1, 2], [0, 1, -8]]], ids=str)
def test_a_position_without_a_row_is_refused(positions):
    with pytest.raises(IndexError, match="positions must be in 0 … 6, found "):
        learned(torch.zeros(2, 3, 5), torch.zeros(7, 5), torch.tensor(positions))


def test_a_sequence_longer_than_the_table_is_refused():
    with pytest.raises(IndexError, match="positions must be in 0 … 6, found 0 … 7"):
        learned(torch.zeros(2, 8, 5), torch.zeros(7, 5))


def test_positions_that_are_no_integers_are_refused():
    with pytest.raises(ValueError, match=r"positions must be integers, found torch\.float32"):
        learned(torch.zeros(2, 3, 5), torch.zeros(7, 5), torch.tensor([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("shape", [(1,), (2,), (4,), (2, 2), (3, 3), (2, 1), (3, 2)], ids=str)
def test_positions_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"positions have shape .*, want \(3,\) or \(2, 3\)"):
        learned(torch.zeros(2, 3, 5), torch.zeros(7, 5), torch.zeros(shape, dtype=torch.int64))


def test_dropout_drops_and_rescales():
    torch.manual_seed(0)
    x, table = torch.ones(4, 500, 8, dtype=torch.float64), torch.ones(500, 8, dtype=torch.float64)
    out = learned(x, table, dropout=0.25)
    assert abs(float((out == 0).double().mean()) - 0.25) < 0.02
    np.testing.assert_allclose(out[out != 0].numpy(), 2 / 0.75, rtol=1e-12)
