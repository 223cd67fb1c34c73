"""Rotations for longer sequences than were trained: linear, NTK, Llama 3 and YaRN."""

import math

import pytest
import torch
from rotation import close, draw

from attnconf.reference.rotary import frequencies, magnitude, rotate, scaled, stretch

YARN = (
    ("kind", "yarn"), ("factor", 4.0), ("original_max_position", 2048.0), ("beta_fast", 32.0), ("beta_slow", 1.0),
    ("attention_factor", 1.2),
)  # fmt: skip
LLAMA3 = (
    ("kind", "llama3"), ("factor", 8.0), ("low_freq_factor", 1.0), ("high_freq_factor", 4.0),
    ("original_max_position", 8192.0),
)  # fmt: skip


def test_linear_scaling_is_a_position_in_between():
    omega = frequencies(8, 10000.0)
    slowed = scaled(omega, 10000.0, (("kind", "linear"), ("factor", 4.0)))
    x = draw(1, 1, 3, 8)
    close(rotate(x, torch.tensor([4, 8, 12]), slowed, 8), rotate(x, torch.tensor([1, 2, 3]), omega, 8))


@pytest.mark.parametrize("width", [4, 8, 128])
def test_ntk_scaling_is_another_base(width):
    got = scaled(frequencies(width, 10000.0), 10000.0, (("kind", "ntk"), ("factor", 8.0)))
    close(got, frequencies(width, 10000.0 * 8 ** (width / (width - 2))))
    assert got[0] == 1
    assert float(got[-1] * 8 / frequencies(width, 10000.0)[-1]) == pytest.approx(1)


def test_a_single_pair_has_no_ntk_scaling():
    with pytest.raises(ValueError, match="needs two pairs or more, found one"):
        stretch(frequencies(2, 100.0), 2.0)


def test_llama3_scaling_by_wavelengths():
    """As the published code has it: three cases for each wavelength."""
    omega, want = frequencies(128, 5e5).tolist(), []
    for frequency in omega:
        wavelength = 2 * math.pi / frequency
        if wavelength < 8192 / 4:
            want.append(frequency)
        elif wavelength > 8192 / 1:
            want.append(frequency / 8)
        else:
            smooth = (8192 / wavelength - 1) / (4 - 1)
            want.append((1 - smooth) * frequency / 8 + smooth * frequency)
    assert len({round(w / f, 6) for w, f in zip(want, omega, strict=True)}) > 4, "some pairs lie in between"
    close(scaled(frequencies(128, 5e5), 5e5, LLAMA3), want, 1e-15)


def test_yarn_by_a_loop_over_pairs():
    omega, want = frequencies(128, 10000.0).tolist(), []
    dims = [128 * math.log(2048 / (turns * 2 * math.pi)) / (2 * math.log(10000)) for turns in (32, 1)]
    first, last = math.floor(dims[0]), math.ceil(dims[1])
    assert 0 < first < last < 64
    for i, frequency in enumerate(omega):
        interpolated = min(max((i - first) / (last - first), 0), 1)
        want.append(frequency / 4 * interpolated + frequency * (1 - interpolated))
    close(scaled(frequencies(128, 10000.0), 10000.0, YARN), want, 1e-15)
    assert magnitude(YARN) == 1.2


def test_yarn_without_room_to_blend_is_a_step():
    """Both indices are 0 where the trained length holds no full circle: all but the first pair are interpolated."""
    narrow = tuple((name, 6.0 if name == "original_max_position" else value) for name, value in YARN)
    omega = frequencies(8, 10000.0)
    want = [1.0, *(omega[1:] / 4).tolist()]
    close(scaled(omega, 10000.0, narrow), want)


@pytest.mark.parametrize("scaling", [(("kind", "linear"),), (("kind", "ntk"),), YARN, LLAMA3], ids=str)
def test_a_factor_of_one_changes_no_frequency(scaling):
    one = (*(pair for pair in scaling if pair[0] != "factor"), ("factor", 1.0))
    omega = frequencies(64, 10000.0)
    close(scaled(omega, 10000.0, one), omega.tolist(), 1e-16)


def test_without_scaling_nothing_changes():
    omega = frequencies(8, 10000.0)
    assert scaled(omega, 10000.0, None) is omega
    assert magnitude(None) == 1.0


def test_an_unknown_scaling_is_refused():
    with pytest.raises(ValueError, match="scaling must be linear, ntk, yarn or llama3, found 'dynamic'"):
        scaled(frequencies(8, 100.0), 100.0, (("kind", "dynamic"), ("factor", 2.0)))


def test_what_is_turned_is_lengthened_and_the_rest_is_not():
    x = draw(1, 2, 3, 6)
    out = rotate(x, None, frequencies(4, 100.0), 4, 1.5)
    close(out[..., :4].norm(dim=-1), 1.5 * x[..., :4].norm(dim=-1))
    assert torch.equal(out[..., 4:], x[..., 4:])
