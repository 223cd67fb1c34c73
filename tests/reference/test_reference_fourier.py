"""Fourier features and the coordinate MLP against loops in plain Python, and where the answer is known."""

import math
from itertools import pairwise

import pytest
import torch

from attnconf.reference.coordinate_mlp import coordinate_mlp, draw_weights, grid, layers, learn, psnr, rose
from attnconf.reference.fourier import fourier, random_fourier

BANK = [1.0, 2.0, 4.0, 0.3, 7.7]


def draw(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def close(got, want, bound=1e-12):
    torch.testing.assert_close(got, torch.as_tensor(want, dtype=got.dtype), rtol=0, atol=bound)


def features_by_loops(point, bank):
    """Return the features of one point: for each coordinate all sines, then all cosines."""
    out = []
    for coordinate in point:
        out += [math.sin(f * coordinate) for f in bank]
        out += [math.cos(f * coordinate) for f in bank]
    return out


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_features_are_those_of_loops(d):
    x = draw(4, d)
    close(fourier(x, BANK), [features_by_loops(point, BANK) for point in x.tolist()])


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (1, 2, 1, 3)], ids=str)
def test_leading_axes_are_kept(shape):
    x = draw(*shape)
    out = fourier(x, BANK)
    assert out.shape == (*shape[:-1], 30)
    close(out.reshape(-1, 30), [features_by_loops(point, BANK) for point in x.reshape(-1, 3).tolist()])


def test_two_coordinates_and_six_frequencies_make_24_features():
    assert fourier(draw(7, 2), [2.0**k for k in range(6)]).shape == (7, 24)


def test_right_angles():
    out = fourier(torch.tensor([[math.pi / 2]], dtype=torch.float64), [1.0, 2.0, 3.0, 4.0])
    close(out, [[1, 0, -1, 0, 0, -1, 0, 1]])


def test_the_published_formula_of_nerf():
    """γ(p) = sin(2^0 π p), cos(2^0 π p), … , here at p = 1/4 and with three octaves, by quarter turns."""
    half = math.sqrt(0.5)
    out = fourier(torch.tensor([[0.25]], dtype=torch.float64), [math.pi * 2**k for k in range(3)])
    close(out, [[half, 1, 0, half, 0, -1]])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_the_dtype_is_that_of_the_coordinates_and_angles_are_wider(dtype):
    x = draw(50, 1).to(dtype)
    out = fourier(x, [1000.3])
    assert out.dtype == dtype
    want = [features_by_loops(point, [1000.3]) for point in x.double().tolist()]
    close(out.double(), want, bound={torch.float64: 1e-9}.get(dtype, 2.4e-7 * 3000 + torch.finfo(dtype).eps))


def test_gradients_are_those_of_differences():
    x = draw(3, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda y: fourier(y, BANK), x)
    assert torch.autograd.gradcheck(lambda y: random_fourier(y, draw(4, 2, seed=1)), x)


def test_random_features_are_those_of_loops():
    x, b = draw(5, 3), draw(4, 3, seed=1)
    for point, got in zip(x.tolist(), random_fourier(x, b), strict=True):
        angles = [2 * math.pi * sum(w * c for w, c in zip(row, point, strict=True)) for row in b.tolist()]
        close(got, [math.cos(a) for a in angles] + [math.sin(a) for a in angles])


def test_random_features_estimate_the_gaussian_kernel():
    """The mean of cos 2πb(x - y) over normal b is exp(-2π²|x - y|²): Bochner's theorem for the normal distribution."""
    x, y = 0.2 * draw(6, 2), 0.2 * draw(6, 2, seed=1)
    b = draw(20000, 2, seed=2)
    got = (random_fourier(x, b) * random_fourier(y, b)).sum(dim=-1) / len(b)
    close(got, torch.exp(-2 * math.pi**2 * (x - y).square().sum(dim=-1)), bound=5 / math.sqrt(2 * len(b)))


# -- the network


def network_by_loops(x, weights, depth):
    for i in range(depth):
        w, b = weights[f"{i}.weight"].tolist(), weights[f"{i}.bias"].tolist()
        x = [sum(v * c for v, c in zip(row, x, strict=True)) + bias for row, bias in zip(w, b, strict=True)]
        if i < depth - 1:
            x = [max(c, 0.0) for c in x]
    return x


@pytest.mark.parametrize("hidden", [(), (7,), (6, 5), (4,) * 11], ids=str)
def test_the_network_is_that_of_loops(hidden):
    sizes = (20, *hidden, 3)
    weights = {}
    for i, (wide, narrow) in enumerate(pairwise(sizes)):
        weights[f"{i}.weight"], weights[f"{i}.bias"] = draw(narrow, wide, seed=i) / 3, draw(narrow, seed=50 + i)
    x = draw(6, 2)
    want = [network_by_loops(features_by_loops(p, BANK), weights, len(sizes) - 1) for p in x.tolist()]
    close(coordinate_mlp(x, BANK, weights), want)


def test_the_network_is_that_of_torch():
    weights = {name: w.double() for name, w in draw_weights((20, 9, 8, 3), torch.Generator().manual_seed(0)).items()}
    parts = []
    for i in range(3):
        linear = torch.nn.Linear(*weights[f"{i}.weight"].T.shape, dtype=torch.float64)
        linear.load_state_dict({part: weights[f"{i}.{part}"] for part in ("weight", "bias")})
        parts += [linear, torch.nn.ReLU()]
    x = draw(5, 2)
    close(coordinate_mlp(x, BANK, weights), torch.nn.Sequential(*parts[:-1])(fourier(x, BANK)))


# -- the picture and the learning


def test_pixels_stand_row_by_row_at_their_centres():
    close(grid(2, 3), [[1 / 6, 0.25], [0.5, 0.25], [5 / 6, 0.25], [1 / 6, 0.75], [0.5, 0.75], [5 / 6, 0.75]], 1e-6)


def test_the_rose_has_colours_and_fine_structure():
    picture = rose(grid(60, 60))
    assert picture.shape == (3600, 3)
    assert 0 <= float(picture.min()) < 0.2
    assert 0.8 < float(picture.max()) <= 1
    close(rose(torch.tensor([[0.5, 0.5]])), [[1.0, 0.85, 0.2]], bound=0.05)  # the heart is yellow
    assert float(picture.std()) > 0.2


def test_learning_is_the_adam_of_torch():
    x, y = draw(30, 6).float(), draw(30, 2, seed=1).float()
    first = draw_weights((6, 8, 2), torch.Generator().manual_seed(0))
    mine = learn(x, y, first, range(20), rate=0.01)
    theirs = {name: w.clone().requires_grad_() for name, w in first.items()}
    optimiser = torch.optim.Adam(theirs.values(), lr=0.01, betas=(0.9, 0.99))
    for _ in range(20):
        optimiser.zero_grad()
        (layers(x, theirs) - y).square().mean().backward()
        optimiser.step()
    for name in first:
        close(mine[name], theirs[name].detach(), bound=1e-4)
        assert not torch.equal(mine[name], first[name])


def test_psnr():
    assert psnr(torch.full((4, 3), 0.6), torch.full((4, 3), 0.5)) == pytest.approx(20, abs=1e-4)
