"""Checks of the chapter spec/fourier.md. Each compares the subject with itself, or with known angles."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import FourierConfig, RandomFourierConfig
from attnconf.conformance.chapters.fourier import stimuli
from attnconf.conformance.engine import evidence
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, Unsupported, close, holds
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.coordinates import ORDERS
from attnconf.reference.coordinate_mlp import draw_weights, grid, layers, learn, psnr, rose

Evidence = Iterator[Measure]
FACTORS = {"1": 1.0, "pi": math.pi, "2pi": 2 * math.pi}
SMALL = 0.5  # radians: angles up to √3·SMALL are within a quarter turn, where atan2 reads them off
FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
# float32 rounds the frequency, the coordinate and their product by 2^-24 each, and the sine once more.
PER_RADIAN, LEAST = 2.4e-7, 1e-6
ANGLE_SOURCE = "float32: 2.4e-7·largest angle + 1e-6"
HALF = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}  # twice the rounding of a number below 1
HALF_SOURCE = "one rounding of the half precision, twice, and float32: 2.4e-7·largest angle + 1e-6"


def bank(subject: Subject, case: Case) -> tuple[float, ...]:
    """Return the frequencies of a case."""
    return frequencies(subject, case.frequencies)


def frequencies(subject: Subject, count: int) -> tuple[float, ...]:
    """Return so many frequencies of the declared kind: powers of two, or from 1 to 3/2 times the highest of these."""
    if subject.choice("fourier-bank") == "octaves":
        return tuple(2.0**k for k in range(count))
    return tuple(1.0 + k * (1.5 * 2 ** (count - 1) - 1) / (count - 1) if k else 1.0 for k in range(count))


def factor(subject: Subject) -> float:
    """Return what frequency · coordinate is multiplied by to give the angle, as declared."""
    return FACTORS[subject.choice("fourier-factor")]


def kept(subject: Subject, d: int) -> int:
    """Return how many coordinates stand beside the features."""
    return 0 if subject.choice("fourier-input") == "dropped" else d


def apart(subject: Subject, out: Tensor, d: int) -> tuple[Tensor, Tensor]:
    """Return the coordinates that stand beside the features, and the features."""
    beside = kept(subject, d)
    if subject.choice("fourier-input") == "kept-last":
        return out[..., -d:], out[..., :-d]
    return out[..., :beside], out[..., beside:]


def width(subject: Subject, d: int, K: int) -> int:
    """Return the declared width of the output."""
    return 2 * d * K + kept(subject, d)


def canonical(subject: Subject, out: Tensor, d: int) -> Tensor:
    """Return the features as (…, 2, d, K), sines and then cosines, whatever order is declared."""
    _, features = apart(subject, out, d)
    K = features.shape[-1] // (2 * d)
    axes, sizes = ORDERS[subject.choice("fourier-order")], (d, 2, K)
    by_axes = features.unflatten(-1, [sizes[axis] for axis in axes])
    return by_axes.movedim([axes.index(axis) - 3 for axis in (1, 0, 2)], [-3, -2, -1])


def call_on(subject: Subject, x: Tensor, frequencies: Sequence[float]) -> Call:
    """Return the call on points x (…, d)."""
    d = x.shape[-1]
    config = FourierConfig(d, tuple(frequencies), x.dtype, str(x.device))
    shape = (*x.shape[:-1], width(subject, d, len(frequencies)))
    return Call(subject.component, config, {}, {"x": x}, shape)


def ask(subject: Subject, x: Tensor, frequencies: Sequence[float], **options: Any) -> Reply:
    """Return the reply for points x (…, d)."""
    return subject.call(call_on(subject, x, frequencies).asked(**options))


def encode(subject: Subject, x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return the features of points x (…, d) as (…, 2, d, K)."""
    features = canonical(subject, ask(subject, x, frequencies).out, x.shape[-1])
    holds(bool((features != 0).any()), "all features are 0")
    return features


def read_angles(features: Tensor) -> Tensor:
    """Return the angles within ±π, float64, of features (…, 2, d, K)."""
    sines, cosines = features.double().unbind(-3)
    return torch.atan2(sines, cosines)


def points(case: Case, what: str = "x") -> Tensor:
    """Return the points of a case, (points, coordinates), within ±√3."""
    return case.draw(what, case.points, case.coordinates)


def near(got: Tensor, want: Tensor, what: str, angle: float) -> Measure:
    """Return the measure if the features differ by no more than float32 does for angles this large."""
    return close(got, want, what, bound=PER_RADIAN * angle + LEAST, unit=1.0, source=ANGLE_SOURCE)


def formula(angle: Tensor) -> Tensor:
    """Return sines and cosines (…, 2, d, K) of angles (…, d, K)."""
    return torch.stack([angle.sin(), angle.cos()], dim=-3)


def true_angles(subject: Subject, x: Tensor, frequencies: Sequence[float]) -> Tensor:
    """Return factor · frequency · coordinate, float64, of points x (…, d) as (…, d, K)."""
    return factor(subject) * x.double()[..., None] * torch.tensor(frequencies, dtype=torch.float64, device=x.device)


# -- what stands where


@requirement("FOUR-POINTS-1", stimuli.USUAL, any_weights=True)
def a_point_is_encoded_by_itself(subject: Subject, case: Case) -> Evidence:
    x = points(case)
    whole = ask(subject, x, bank(subject, case)).out
    yield close(
        ask(subject, x[:1], bank(subject, case)).out, whole[:1], "features of one point alone, against among others,"
    )
    one = x[-1:].expand(3, -1).contiguous()
    got = ask(subject, one, bank(subject, case)).out
    yield close(got, whole[-1:].expand_as(got), "features of one point three times, against once among others,")


@requirement("FOUR-AXES-1", stimuli.USUAL)
def leading_axes_are_kept(subject: Subject, case: Case) -> Evidence:
    x = case.draw("grid", case.rows, case.points, case.coordinates)
    want = ask(subject, x.flatten(0, 1), bank(subject, case)).out.unflatten(0, (case.rows, case.points))
    yield close(ask(subject, x, bank(subject, case)).out, want, "features of points on a grid, against in a row,")
    yield close(
        ask(subject, x[0, 0], bank(subject, case)).out, want[0, 0], "features of a single point without other axes"
    )
    for shape in ((1, case.rows, case.points), (case.rows, 1, 1, case.points)):
        got = ask(subject, x.reshape(*shape, case.coordinates), bank(subject, case)).out
        yield close(got.reshape(want.shape), want, f"features of points on axes {shape}, against in a row,")


@requirement("FOUR-ORDER-1", stimuli.USUAL)
def a_feature_depends_on_its_own_coordinate(subject: Subject, case: Case) -> Evidence:
    x, other = points(case), points(case, "other")
    reply = ask(subject, x, bank(subject, case)).out
    beside, _ = apart(subject, reply, case.coordinates)
    yield close(beside, x[..., : beside.shape[-1]], "the coordinates that are kept")
    want = canonical(subject, reply, case.coordinates)
    for c in range(case.coordinates):
        moved = torch.where(torch.arange(case.coordinates, device=x.device) == c, x, other)
        got = encode(subject, moved, bank(subject, case))[..., c, :]
        yield close(got, want[..., c, :], f"features of coordinate {c} where the others change", unit=1.0)


@requirement("FOUR-ZERO-1", stimuli.USUAL)
def at_zero_sines_are_0_and_cosines_1(subject: Subject, case: Case) -> Evidence:
    zero = torch.zeros_like(points(case))
    sines, cosines = encode(subject, zero, bank(subject, case)).unbind(-3)
    yield close(sines, torch.zeros_like(sines), "sines at 0", unit=1.0)
    yield close(cosines, torch.ones_like(cosines), "cosines at 0")


@requirement("FOUR-PAIR-1", stimuli.USUAL)
def squares_of_a_pair_sum_to_1(subject: Subject, case: Case) -> Evidence:
    squares = encode(subject, points(case), bank(subject, case)).square().sum(dim=-3)
    yield close(squares, torch.ones_like(squares), "sin² + cos² of a coordinate and frequency")


@requirement("FOUR-PARITY-1", stimuli.USUAL)
def sines_are_odd_and_cosines_even(subject: Subject, case: Case) -> Evidence:
    sines, cosines = encode(subject, points(case), bank(subject, case)).unbind(-3)
    mirrored = encode(subject, -points(case), bank(subject, case)).unbind(-3)
    yield close(mirrored[0], -sines, "sines of -x, against minus those of x,")
    yield close(mirrored[1], cosines, "cosines of -x, against those of x,")


# -- which angles


def angles_of(subject: Subject, case: Case, frequencies: Sequence[float], largest: float) -> tuple[Tensor, Tensor]:
    """Return the angles read and the true ones, of points at which ``largest`` turns by no more than √3·SMALL."""
    x = points(case) * SMALL / (factor(subject) * largest)
    return read_angles(encode(subject, x, frequencies)), true_angles(subject, x, frequencies)


@requirement("FOUR-FACTOR-1", stimuli.USUAL)
def the_first_angle_is_factor_times_frequency_times_coordinate(subject: Subject, case: Case) -> Evidence:
    got, want = angles_of(subject, case, bank(subject, case), bank(subject, case)[0])
    yield close(got[..., 0], want[..., 0], f"angle of the frequency {bank(subject, case)[0]:g}")


@requirement("FOUR-FREQ-1", stimuli.USUAL)
def each_angle_is_to_the_first_as_their_frequencies(subject: Subject, case: Case) -> Evidence:
    got, _ = angles_of(subject, case, bank(subject, case), max(bank(subject, case)))
    ratios = torch.tensor(bank(subject, case), dtype=got.dtype, device=got.device) / bank(subject, case)[0]
    yield close(got, got[..., :1] * ratios, "angles, against frequency times the first,")


@requirement("FOUR-BANK-1", stimuli.USUAL)
def any_bank_is_used_as_given(subject: Subject, case: Case) -> Evidence:
    other = tuple(round(3.3 * math.exp(-0.37 * k) + 0.05, 3) for k in range(case.frequencies))
    got, want = angles_of(subject, case, other, max(other))
    yield close(got, want, f"angles with the frequencies {', '.join(map(str, other))}")


@requirement("FOUR-SHIFT-1", stimuli.USUAL)
def a_shift_turns_every_pair(subject: Subject, case: Case) -> Evidence:
    """Also where the coordinates leave ±1, and after a whole period of the lowest frequency."""
    x, start = points(case), 2 * math.pi / factor(subject)
    low = frequencies(subject, min(case.frequencies, 3))
    for by in (start, 1.25):
        got, want = (encode(subject, y, low) for y in (x + by, x))
        turn = formula(true_angles(subject, torch.full_like(x, by), low))
        (s, c), (sin, cos) = want.unbind(-3), turn.unbind(-3)
        turned = torch.stack([s * cos + c * sin, c * cos - s * sin], dim=-3)
        angle = 2 * factor(subject) * max(low) * (2 + by)
        yield near(got, turned, f"features of x + {by:.4g}, against those of x turned,", angle)


@requirement("FOUR-HIGH-1", stimuli.HIGH)
def high_frequencies_are_as_good_as_low_ones(subject: Subject, case: Case) -> Evidence:
    yield from compare(subject, points(case), bank(subject, case))


def compare(subject: Subject, x: Tensor, frequencies: Sequence[float]) -> Evidence:
    """Yield the measure of the features of x against the formula, in units of float32."""
    angle = true_angles(subject, x, frequencies)
    got, largest = encode(subject, x, frequencies), float(angle.abs().max())
    what = f"features in {x.dtype}, angles up to {largest:.3g}".replace("torch.", "")
    if x.dtype in HALF:
        bound = HALF[x.dtype] + PER_RADIAN * largest + LEAST
        yield close(got, formula(angle), what, bound=bound, unit=1.0, source=HALF_SOURCE)
    else:
        yield near(got, formula(angle), what, largest)


# -- precision, dtype, gradients


@requirement("FOUR-PREC-1", stimuli.HIGH)
def float32_is_as_good_as_float32_can_be(subject: Subject, case: Case) -> Evidence:
    yield from compare(subject, points(case).float(), bank(subject, case))


@requirement("FOUR-HALF-1", stimuli.HIGH)
def angles_of_half_precision_are_computed_in_more(subject: Subject, case: Case) -> Evidence:
    """A power of two times a coordinate is exact in any precision: other frequencies are tried where there are some."""
    for dtype in HALF:
        yield from compare(subject, points(case).to(dtype), frequencies(subject, case.frequencies + 1))
        with contextlib.suppress(Unsupported):
            yield from compare(subject, points(case).to(dtype), (700.7, 1000.3))


def slope(run: Any, x: Tensor, direction: Tensor, step: float) -> Tensor:
    """Return the derivative of Σ run(x) along a direction, by central differences of order 4."""
    values = {t: run(x + t * step * direction).sum() for t in (-2, -1, 1, 2)}
    return (8 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12 * step)


def compare_slopes(subject: Subject, case: Case, run: Any, x: Tensor, step: float) -> Evidence:
    """Yield the measure of ``run(x).grads`` along a direction against differences of ``run(x).out``."""
    out = run(x).out
    cotangent, direction = case.draw("cotangent", *out.shape), case.draw("direction", *x.shape)
    want = slope(lambda y: run(y).out * cotangent, x, direction, step)
    grad = run(x, cotangent=cotangent, wrt=("x",)).grads["x"]
    unit = max(float(want.abs()), float(grad.norm()))
    yield close(
        (grad * direction).sum(), want, "derivative along a direction of x, against differences,",
        bound=evidence.DIFFERENCES, source=evidence.DIFFERENCES_SOURCE, unit=unit,
    )  # fmt: skip


@requirement("FOUR-GRAD-1", stimuli.USUAL)
def gradients_reach_the_coordinates(subject: Subject, case: Case) -> Evidence:
    low = frequencies(subject, 2)

    def run(x: Tensor, **options: Any) -> Reply:
        return ask(subject, x, low, **options)

    yield from compare_slopes(subject, case, run, points(case) / factor(subject), 0.01 / factor(subject))


# -- what it is for


SIDE, HIDDEN, STEPS, RATE, GAIN = 40, (32, 32), 150, 2e-2, 3.0  # GAIN: in dB


@requirement("FOUR-LEARN-1", stimuli.LEARN)
def a_small_network_learns_the_rose(subject: Subject, case: Case) -> Evidence:
    """Every second pixel is learned, the others are asked for."""
    pixels = grid(SIDE, SIDE).to(case.device)
    turned = pixels * math.pi / factor(subject)  # so that the angles are π·2^k·coordinate under every convention
    features = encode(subject, turned, bank(subject, case)).flatten(-3).float()
    with_features = learned(case, features, rose(pixels))
    without = case.once("without features", lambda: learned(case, 2 * pixels - 1, rose(pixels)))
    gain = with_features - without
    words = f"{with_features:.1f} dB on pixels not learned, {gain:.1f} more than without features"
    if gain >= GAIN:
        yield Measure()
        return
    raise Failure("property", f"{words}, want {GAIN:g} more")


def learned(case: Case, features: Tensor, colours: Tensor) -> float:
    """Return the PSNR in dB on the pixels that were held out."""
    held_out = grid(SIDE, SIDE).mul(SIDE).floor().sum(dim=-1).long() % 2 == 1
    generator = torch.Generator().manual_seed(case.seed)
    weights = draw_weights((features.shape[1], *HIDDEN, colours.shape[1]), generator)
    weights = {name: w.to(features.device) for name, w in weights.items()}
    weights = learn(features[~held_out], colours[~held_out], weights, range(STEPS), RATE)
    return psnr(layers(features[held_out], weights), colours[held_out])


# -- random features


def random_call(subject: Subject, case: Case, x: Tensor) -> Call:
    """Return the call on points x (…, d), with the directions of a case."""
    weights = {"projection": case.draw("projection", case.directions, case.coordinates).to(x.dtype)}
    config = RandomFourierConfig(case.coordinates, case.directions)
    return Call(subject.component, config, weights, {"x": x}, (*x.shape[:-1], 2 * case.directions))


def ask_random(subject: Subject, case: Case, x: Tensor, **options: Any) -> Reply:
    """Return the reply for points x (…, d); who draws directions again draws the same in every call."""
    return subject.call(random_call(subject, case, x).asked(seed=1, **options))


def random_pairs(subject: Subject, case: Case, x: Tensor) -> Tensor:
    """Return the features of points x (…, d) as (…, 2, M), sines and then cosines, whatever order is declared."""
    pairs = ask_random(subject, case, x).out.unflatten(-1, (2, case.directions))
    return pairs if subject.choice("random-fourier-order") == "sin-first" else pairs.flip(-2)


def random_angle(case: Case, x: Tensor) -> Tensor:
    """Return 2πBx, float64, of points x (…, d) as (…, M)."""
    projection = case.draw("projection", case.directions, case.coordinates).to(x.dtype)
    return 2 * math.pi * x.double() @ projection.double().T


@requirement("FOUR-RPOINTS-1", stimuli.RANDOM, any_weights=True)
def a_point_has_random_features_of_its_own(subject: Subject, case: Case) -> Evidence:
    x = case.draw("grid", case.rows, case.points, case.coordinates)
    whole = ask_random(subject, case, x).out
    got = ask_random(subject, case, x[1, :1]).out
    yield close(got, whole[1, :1], "features of one point alone, against on a grid,")


@requirement("FOUR-RORDER-1", stimuli.RANDOM)
def at_zero_random_sines_are_0_and_cosines_1(subject: Subject, case: Case) -> Evidence:
    sines, cosines = random_pairs(subject, case, torch.zeros_like(points(case))).unbind(-2)
    yield close(sines, torch.zeros_like(sines), "sines at 0", unit=1.0)
    yield close(cosines, torch.ones_like(cosines), "cosines at 0")


@requirement("FOUR-RPAIR-1", stimuli.RANDOM)
def squares_of_a_random_pair_sum_to_1(subject: Subject, case: Case) -> Evidence:
    squares = random_pairs(subject, case, points(case)).square().sum(dim=-2)
    yield close(squares, torch.ones_like(squares), "sin² + cos² of a direction")


@requirement("FOUR-RANGLE-1", stimuli.RANDOM)
def random_angles_are_2_pi_times_the_projection(subject: Subject, case: Case) -> Evidence:
    x = points(case) * SMALL / (2 * math.pi * 3 * case.coordinates)  # no |B_ij x_j| is larger than 3
    sines, cosines = random_pairs(subject, case, x).double().unbind(-2)
    yield close(torch.atan2(sines, cosines), random_angle(case, x), "angles, against 2π B x,")


@requirement("FOUR-RSHIFT-1", stimuli.RANDOM)
def inner_products_depend_on_differences_only(subject: Subject, case: Case) -> Evidence:
    x, y = points(case) / 2, points(case, "y") / 2
    want = random_angle(case, x[:, None] - y).cos().sum(dim=-1)
    for by in (0.0, 1.7):
        a, b = (ask_random(subject, case, z + by).out for z in (x, y))
        bound = 2 * case.directions * (PER_RADIAN * 4 * math.pi * case.coordinates * 3 + LEAST)
        what = f"γ(x + {by})·γ(y + {by}), against Σ cos 2πB(x - y),"
        yield close(a @ b.T, want, what, bound=bound, unit=1.0, source=f"2M·({ANGLE_SOURCE})")


@requirement("FOUR-RFIXED-1", stimuli.RANDOM)
def the_projection_stays_as_it_is(subject: Subject, case: Case) -> Evidence:
    x = points(case)
    want = ask_random(subject, case, x)
    reply = ask_random(subject, case, x, before=({"x": points(case, "other")},) * 2)
    yield holds(not reply.changed, f"modified in place: {', '.join(reply.changed)}")
    yield close(reply.out, want.out, "features in the third call, against the first,")


@requirement("FOUR-RHALF-1", stimuli.RANDOM)
def random_angles_of_half_precision_are_computed_in_more(subject: Subject, case: Case) -> Evidence:
    for dtype in HALF:
        x = (50 * points(case)).to(dtype)
        angle = random_angle(case, x)
        want = torch.stack([angle.sin(), angle.cos()], dim=-2)
        bound = HALF[dtype] + PER_RADIAN * case.coordinates * float(angle.abs().max()) + LEAST
        got = random_pairs(subject, case, x)
        yield close(got, want, f"features in {dtype}".replace("torch.", ""), bound=bound, unit=1.0, source=HALF_SOURCE)


@requirement("FOUR-RGRAD-1", stimuli.RANDOM)
def gradients_reach_the_coordinates_of_random_features(subject: Subject, case: Case) -> Evidence:
    def run(x: Tensor, **options: Any) -> Reply:
        return ask_random(subject, case, x, **options)

    yield from compare_slopes(subject, case, run, points(case) / 2, 0.005)
