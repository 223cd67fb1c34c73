"""Rotary positions against loops of plain Python, closed forms, and numbers worked out by others.

The golden numbers are the closed form for x = (1, 2, …, d) with base 10⁴, computed in another program to 17 digits.
"""

import math

import numpy as np
import pytest
import torch
from rotation import close, draw, to_interleaved, turned_by_loops

from attnconf.reference.rotary import frequencies, rotate, to_half

# fmt: off
GOLDENS = {
    (4, 0, "interleaved"): [1.0, 2.0, 3.0, 4.0],
    (4, 0, "half"): [1.0, 2.0, 3.0, 4.0],
    (4, 1, "interleaved"): [-1.1426396637476532, 1.922075596544176, 2.9598506679133294, 4.029799501669161],
    (4, 1, "half"): [-1.9841106485555495, 1.959900667496664, 2.4623779024123156, 4.019799668334994],
    (4, 2, "interleaved"): [-2.234741690198506, 0.0770037537313969, 2.919405353226401, 4.05919602674631],
    (4, 2, "half"): [-3.1440391170241875, 1.9196053465598233, -0.33914308281574557, 4.039197360052977],
    (4, 3, "interleaved"): [-1.27223251272018, -1.8388649851410237, 2.87866810043698, 4.088186635603437],
    (4, 3, "half"): [-1.413352520780047, 1.8791180666879925, -2.828857481741469, 4.058191135400942],
    (4, 100, "interleaved"): [1.8750501545072016, 1.218272103465609, -1.7449770216271667, 4.685622177896248],
    (4, 100, "half"): [2.3814157956169604, -2.2852793274953065, 2.0805909757532928, 3.844151193088352],
    (4, 4095, "interleaved"): [1.9296664241958839, -1.129773203493104, -2.5457874296411784, -4.303366863640719],
    (4, 4095, "half"): [2.927487634572858, -1.5517542399017217, -1.1957492000511691, -4.194288828746422],
    (4, 131071, "interleaved"): [0.33249986812162957, -2.2112086825306876, 0.11180240251719464, -4.998749865995635],
    (4, 131071, "half"): [0.9077415518764189, 0.898186092774433, -3.0291921819186367, -4.381011497673408],
    (8, 0, "interleaved"): [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    (8, 0, "half"): [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    (8, 1, "interleaved"): [
        -1.1426396637476532, 1.922075596544176, 2.585678829246765, 4.279516911052588,
        4.939751002078326, 6.049699169170825, 6.991996501333625, 8.006995998833666,
    ],
    (8, 1, "half"): [
        -3.667052618171343, 1.3910078306750826, 2.9298511679108294, 3.9919980013335,
        3.542982514148595, 6.169691824961811, 7.029649502919157, 8.003995999333666,
    ],
    (8, 2, "interleaved"): [
        -2.234741690198506, 0.0770037537313969, 2.1455224103434802, 4.5162743037501505,
        4.879008033172891, 6.0987933734661315, 6.983986010671331, 8.013983990672001,
    ],
    (8, 2, "half"): [
        -4.962633970675551, 0.768117170912116, 2.8594093531464013, 3.983992010669331,
        -1.1714367559100303, 6.277738128637573, 7.058596046746043, 8.007983994672001,
    ],
    (8, 3, "interleaved"): [
        -1.27223251272018, -1.8388649851410237, 1.6839286407314598, 4.707906576486443,
        4.817777167529964, 6.147277703506403, 6.975968536023609, 8.020963968527013,
    ],
    (8, 3, "half"): [
        -1.6955925368997815, 0.13755173828317435, 2.7886815998294927, 3.975982036013484,
        -4.8088424749423595, 6.323059348076315, 7.086836736850399, 8.011963982027009,
    ],
    (8, 100, "interleaved"): [
        1.8750501545072016, 1.218272103465609, -0.3411301436718781, -4.988349448973919,
        -2.3473143795066798, 7.449168759248321, 6.166361823771556, 8.658867238752004,
    ],
    (8, 100, "half"): [
        3.394147077836478, 1.5859836071833138, -4.2693899760508565, 3.181349327937478,
        3.8052287203286603, -6.122471396237454, 6.306529095500668, 8.35936698881152,
    ],
    (8, 4095, "interleaved"): [
        1.9296664241958839, -1.129773203493104, -2.1723687860563134, 4.503422460459181,
        -4.315697739331495, -6.509589312908228, 2.470785290619518, -10.339014462107025,
    ],
    (8, 4095, "half"): [
        4.923130055326807, -4.408211527451249, -2.2185533249582847, 4.20750967988995,
        -1.3277011931672988, 4.535159438128491, -7.2854664328590895, -7.892836137513079,
    ],
    (8, 131071, "interleaved"): [
        0.33249986812162957, -2.2112086825306876, 1.3242669779464273, 4.8214434530667925,
        -0.2254882413528274, -7.806993983154567, 10.627103548794521, -0.25430328979172323,
    ],
    (8, 131071, "half"): [
        2.0582249193859976, -0.3394570076910042, 1.9650175074838772, 8.706166419859269,
        -4.665159180694536, 6.315438934858722, -7.35790093676735, 2.0500405531878756,
    ],
}
# fmt: on
# Printed to eight digits in the notes of those who found them.
PRINTED = {
    (4, 1, "interleaved"): [-1.14263966, 1.92207560, 2.95985067, 4.02979950],
    (4, 1, "half"): [-1.98411065, 1.95990067, 2.46237790, 4.01979967],
    (4, 2, "interleaved"): [-2.23474169, 0.07700375, 2.91940535, 4.05919603],
    (4, 2, "half"): [-3.14403912, 1.91960535, -0.33914308, 4.03919736],
    (4, 100, "interleaved"): [1.87505015, 1.21827210, -1.74497702, 4.68562218],
    (4, 100, "half"): [2.38141580, -2.28527933, 2.08059098, 3.84415119],
    (8, 3, "interleaved"): [
        -1.27223251,
        -1.83886499,
        1.68392864,
        4.70790658,
        4.81777717,
        6.14727770,
        6.97596854,
        8.02096397,
    ],
    (8, 3, "half"): [
        -1.69559254,
        0.13755174,
        2.78868160,
        3.97598204,
        -4.80884247,
        6.32305935,
        7.08683674,
        8.01196398,
    ],
}  # fmt: skip


@pytest.mark.parametrize(("width", "position", "pairing"), GOLDENS)
def test_golden_numbers(width, position, pairing):
    x = torch.arange(1.0, width + 1, dtype=torch.float64).reshape(1, 1, 1, width)
    at, omega = torch.tensor([position]), frequencies(width, 10000.0)
    half = pairing == "half"
    got = to_half(rotate(to_interleaved(x), at, omega, width)) if half else rotate(x, at, omega, width)
    # one rounding of an angle in radians, times the length of the vector
    close(got[0, 0, 0], GOLDENS[width, position, pairing], 1e-14 + 2**-52 * position * width)


@pytest.mark.parametrize("key", PRINTED)
def test_printed_numbers_are_the_golden_ones(key):
    assert GOLDENS[key] == pytest.approx(PRINTED[key], abs=0.51e-8)


def test_the_angle_that_half_precision_lost():
    """EleutherAI/gpt-neox#1003: 32 features, position 1857, the second pair; float16 gave 1045."""
    angle = 1857 * frequencies(32, 10000.0)[1]
    assert float(angle) == pytest.approx(1044.2678, abs=1e-4)
    assert abs(math.cos(angle) - math.cos(1045)) > 0.7


def test_the_slowest_pair_of_a_wide_head_takes_54_000_tokens():
    assert 2 * math.pi / float(frequencies(128, 10000.0)[-1]) == pytest.approx(54_410, abs=10)


@pytest.mark.parametrize("base", [10000.0, 500.0, 5e5])
@pytest.mark.parametrize("width", [2, 4, 6, 64])
def test_frequencies_are_powers_of_the_base(width, base):
    want = [1 / base ** (2 * i / width) for i in range(width // 2)]
    np.testing.assert_allclose(frequencies(width, base).numpy(), want, rtol=1e-15)


@pytest.mark.parametrize(("width", "rotary_dim"), [(8, 8), (8, 2), (10, 6), (7, 4), (2, 2)])
def test_rotation_by_loops(width, rotary_dim):
    x, omega = draw(2, 3, 5, width), frequencies(rotary_dim, 100.0)
    want = turned_by_loops(x, [range(5)] * 2, omega.tolist())
    close(rotate(x, None, omega, rotary_dim), want)


def test_positions_for_all_and_for_each_sample_by_loops():
    x, omega = draw(2, 3, 4, 6), frequencies(6, 10000.0)
    for positions in ([3, 0, 7, 7], [-2, 5, 1, 0]):
        close(rotate(x, torch.tensor(positions), omega, 6), turned_by_loops(x, [positions] * 2, omega.tolist()))
    positions = [[4, 1, 0, 2], [9, 8, 11, 10]]
    close(rotate(x, torch.tensor(positions), omega, 6), turned_by_loops(x, positions, omega.tolist()))


def test_a_rotation_is_a_product_of_complex_numbers():
    x, omega = draw(2, 3, 5, 8), frequencies(8, 10000.0)
    phases = torch.polar(torch.ones(5, 4, dtype=torch.float64), torch.outer(torch.arange(5).double(), omega))
    want = torch.view_as_real(torch.view_as_complex(x.reshape(2, 3, 5, 4, 2)) * phases).flatten(-2)
    close(rotate(x, None, omega, 8), want)


def test_a_rotation_is_the_exponential_of_its_generator():
    x, omega = draw(1, 1, 6, 6), frequencies(6, 10000.0)
    generator = torch.zeros(6, 6, dtype=torch.float64)
    for i, frequency in enumerate(omega.tolist()):
        generator[2 * i + 1, 2 * i], generator[2 * i, 2 * i + 1] = frequency, -frequency
    want = [torch.linalg.matrix_exp(p * generator) @ x[0, 0, p] for p in range(6)]
    close(rotate(x, None, omega, 6)[0, 0], torch.stack(want))


def test_position_zero_and_the_rest_pass_to_the_bit():
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        x = draw(2, 3, 4, 10).to(dtype)
        out = rotate(x, None, frequencies(6, 10000.0), 6)
        assert out.dtype == dtype
        assert torch.equal(out[:, :, 0], x[:, :, 0])
        assert torch.equal(out[..., 6:], x[..., 6:])


def test_halves_are_turned_as_transformers_does_it():
    x, omega = draw(2, 3, 5, 8), frequencies(8, 10000.0)
    angles = torch.outer(torch.arange(5).double(), omega).repeat(1, 2)
    want = x * angles.cos() + torch.cat([-x[..., 4:], x[..., :4]], dim=-1) * angles.sin()
    close(to_half(rotate(to_interleaved(x), None, omega, 8)), want)


def test_to_half_undoes_to_interleaved():
    x = draw(3, 8)
    assert torch.equal(to_half(to_interleaved(x)), x)


@pytest.mark.parametrize(("head_dim", "rotary_dim"), [(7, 7), (8, 3), (8, 10), (8, 0)])
def test_widths_that_are_no_pairs_are_refused(head_dim, rotary_dim):
    words = f"rotary_dim must be even, in 2 … {head_dim} (head_dim), found {rotary_dim}"
    with pytest.raises(ValueError, match="rotary_dim must be even") as found:
        rotate(draw(1, 1, 2, head_dim), None, frequencies(4, 100.0), rotary_dim)
    assert str(found.value) == words


@pytest.mark.parametrize("shape", [(4,), (6,), (1,), (3, 5), (2, 4), (2, 1, 5), ()])
def test_positions_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError, match=r"positions must have shape \(5,\) or \(2, 5\), found"):
        rotate(draw(2, 3, 5, 4), torch.zeros(shape, dtype=torch.long), frequencies(4, 100.0), 4)
