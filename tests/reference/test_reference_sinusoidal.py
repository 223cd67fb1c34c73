"""Sinusoidal positions against loops over the formulas, closed forms and published numbers."""

import cmath
import math

import numpy as np
import pytest
import torch

from attnconf.reference.sinusoidal import encode, grid, sinusoidal

# d = 4, base 100: as machinelearningmastery.com prints it
BASE_100 = [
    [0.0, 1.0, 0.0, 1.0],
    [0.84147098, 0.54030231, 0.09983342, 0.99500417],
    [0.90929743, -0.41614684, 0.19866933, 0.98006658],
    [0.14112001, -0.98999250, 0.29552021, 0.95533649],
]
# d = 4, base 10000
BASE_10000 = [
    [0.0, 1.0, 0.0, 1.0],
    [0.84147098, 0.54030231, 0.00999983, 0.99995000],
    [0.90929743, -0.41614684, 0.01999867, 0.99980001],
    [0.14112001, -0.98999250, 0.02999550, 0.99955003],
]
# d = 6, position 1: three decimals, as TensorFlow's tutorial prints its table
SIX_WIDE = [0.841, 0.540, 0.046, 0.999, 0.002, 1.000]


def by_loops(positions, dim, base):
    """Return PE by the paper's two lines, one number at a time."""
    table = np.zeros((len(positions), dim))
    for row, p in enumerate(positions):
        for feature in range(dim):
            angle = p / base ** (2 * (feature // 2) / dim)
            table[row, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return table


@pytest.mark.parametrize("dim", [1, 2, 4, 5, 7, 8, 66, 512])
@pytest.mark.parametrize("base", [10000.0, 100.0])
def test_the_table_is_that_of_the_formula(dim, base):
    positions = [0, 1, 2, 3, 17, 100, 5000]
    got = encode(torch.tensor(positions), dim, base)
    np.testing.assert_allclose(got.numpy(), by_loops(positions, dim, base), atol=1e-11)


@pytest.mark.parametrize(("base", "want"), [(100.0, BASE_100), (10000.0, BASE_10000)])
def test_published_tables_of_four_features(base, want):
    np.testing.assert_allclose(encode(torch.arange(4), 4, base).numpy(), want, atol=5.1e-9)


def test_a_published_row_of_six_features():
    np.testing.assert_allclose(encode(torch.tensor([1]), 6)[0].numpy(), SIX_WIDE, atol=5.1e-4)


def test_the_ends_of_a_row_of_512_features():
    got = encode(torch.tensor([1]), 512)[0].tolist()
    assert got[:4] == pytest.approx([0.84147098, 0.54030231, 0.82185619, 0.56969501], abs=5e-9)
    assert got[-2:] == pytest.approx([1.03663e-4, 1.0], abs=5.5e-9)


@pytest.mark.parametrize("step", [1, 7, -3, 0.5])
def test_a_step_is_a_rotation(step):
    """As complex numbers: c + is of p + k is that of p times exp(ikω)."""
    dim, positions = 16, torch.arange(50)
    start, end = encode(positions, dim), encode(positions + step, dim)
    for pair in range(dim // 2):
        turn = cmath.exp(1j * step * 10000.0 ** (-2 * pair / dim))
        for p in range(len(positions)):
            one, other = (complex(table[p, 2 * pair + 1], table[p, 2 * pair]) for table in (start, end))
            assert abs(one * turn - other) < 1e-12


def test_products_of_encodings_depend_on_the_distance_only():
    table = encode(torch.arange(30), 12)
    gram = (table @ table.T).numpy()
    for distance in range(30):
        want = sum(math.cos(distance * 10000.0 ** (-2 * i / 12)) for i in range(6))
        np.testing.assert_allclose(np.diagonal(gram, distance), want, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_the_encoding_is_added_to_every_sample_in_the_dtype_of_x(dtype):
    x = torch.from_numpy(np.random.default_rng(3).normal(size=(2, 7, 6))).to(dtype)
    out = sinusoidal(x)
    assert out.dtype == dtype
    want = x.double().numpy() + by_loops(range(7), 6, 10000.0)
    np.testing.assert_allclose(out.double().numpy(), want, atol=2 * torch.finfo(dtype).eps * 4)


def test_positions_may_be_given_for_all_samples_or_for_each():
    x = torch.zeros(2, 3, 8, dtype=torch.float64)
    shared, own = [5, 0, 2], [[5, 0, 2], [-1, 7, 0.25]]
    got = sinusoidal(x, torch.tensor(shared))
    for b in range(2):
        np.testing.assert_allclose(got[b].numpy(), by_loops(shared, 8, 10000.0), atol=1e-12)
    got = sinusoidal(x, torch.tensor(own))
    for b in range(2):
        np.testing.assert_allclose(got[b].numpy(), by_loops(own[b], 8, 10000.0), atol=1e-12)


@pytest.mark.parametrize("shape", [(1,), (4,), (6,), (2, 4), (3, 5), (2, 1), (5, 2)], ids=str)
def test_positions_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"positions have shape .*, want \(5,\) or \(2, 5\)"):
        sinusoidal(torch.zeros(2, 5, 4), torch.zeros(shape, dtype=torch.int64))


def test_the_gradient_passes_as_it_is():
    x = torch.zeros(2, 3, 4, requires_grad=True)
    cotangent = torch.arange(24.0).view(2, 3, 4)
    (sinusoidal(x) * cotangent).sum().backward()
    assert torch.equal(x.grad, cotangent)


def test_dropout_drops_and_rescales():
    torch.manual_seed(0)
    x = torch.ones(4, 500, 8, dtype=torch.float64)
    out, want = sinusoidal(x, dropout=0.25), sinusoidal(x)
    kept = out != 0
    assert abs(float(kept[want != 0].double().mean()) - 0.75) < 0.02
    np.testing.assert_allclose(out[kept].numpy(), (want / 0.75)[kept].numpy(), rtol=1e-12)


# -- on a grid


@pytest.mark.parametrize(("height", "width", "dim"), [(3, 5, 8), (5, 2, 4), (1, 1, 12), (4, 4, 64)])
def test_a_grid_is_that_of_the_formula(height, width, dim):
    got, quarter = grid(height, width, dim).numpy(), dim // 4
    assert got.shape == (height, width, dim)
    for row in range(height):
        for column in range(width):
            for i in range(quarter):
                omega = 10000.0 ** (-i / quarter)
                want = [
                    math.sin(column * omega),
                    math.cos(column * omega),
                    math.sin(row * omega),
                    math.cos(row * omega),
                ]
                np.testing.assert_allclose(got[row, column, i::quarter], want, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 6, 7, 10])
def test_a_width_for_no_two_axes_is_refused(dim):
    with pytest.raises(ValueError, match=f"dim must be a multiple of 4 for two axes, found {dim}"):
        grid(2, 3, dim)
