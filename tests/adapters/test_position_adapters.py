"""The shipped adapters for positions against the formulas, without the suite: small positions, in float64."""

import math

import pytest
import torch
from shipped import having, shipped

from attnconf.adapters import contract

torch.set_num_threads(1)
FLOAT32 = 1e-6  # tables are made in float32
COUNT = torch.arange(5)
POSITIONS = {"none": None, "(L,)": torch.tensor([3, 0, 7, 7, 9]), "(B, L)": torch.stack([COUNT + 2, 2 * COUNT])}

# What is not as the formula says, or not at all: (implementation, component, what was asked)
DIFFERENT = {
    ("x_transformers", "learned", "none"): "rows divided by √dim",
    ("x_transformers", "learned", "(L,)"): "rows divided by √dim",
    ("x_transformers", "learned", "(B, L)"): "rows divided by √dim",
    ("transformers_bias:falcon", "alibi_attention", "causal"): "bias divided by √E",
}


def others_having(component):
    return [name for name, _ in having(component) if name != "reference"]


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def check(name, component, what, got, want):
    """Assert that they are near, or, where it is known to differ, that they are not."""
    assert got.shape == want.shape
    near = float((got - want).detach().abs().max()) <= FLOAT32
    assert near != ((name, component, what) in DIFFERENT), DIFFERENT.get((name, component, what), "differs")


def call(name, component, config, weights, *inputs, **given):
    """Return the output, or None where the adapter says that there is none."""
    try:
        return shipped(name).components[component](config, weights)(*inputs, **given)
    except NotImplementedError:
        return None


def sine_and_cosine(positions, dim, frequencies="paper"):
    pairs = torch.arange((dim + 1) // 2, dtype=torch.float64)
    exponent = 2 * pairs / dim if frequencies == "paper" else pairs / (dim // 2 - 1)
    theta = positions[..., None] / 10000**exponent
    return theta.sin(), theta.cos()


def laid_out(sin, cos, layout):
    if layout == "interleaved":
        return torch.stack([sin, cos], dim=-1).flatten(-2)
    return torch.cat([cos, sin] if layout == "halves-cos-first" else [sin, cos], dim=-1)


@pytest.mark.parametrize("what", POSITIONS)
@pytest.mark.parametrize("name", others_having("sinusoidal"))
def test_sinusoidal(name, what):
    declared = shipped(name).declared("sinusoidal")
    given = {} if what == "none" else {"positions": POSITIONS[what]}
    x = numbers(2, 5, 12)
    out = call(name, "sinusoidal", contract.SinusoidalConfig(12, dtype=torch.float64), {}, x, **given)
    if out is not None:
        at = (POSITIONS[what] if given else COUNT) + int(declared.get("sinusoidal-offset", 0))
        sin, cos = sine_and_cosine(at.double(), 12, declared.get("sinusoidal-frequencies", "paper"))
        want = laid_out(sin, cos, declared["sinusoidal-layout"]).expand(2, 5, 12)
        check(name, "sinusoidal", what, out, want + (x if declared["sinusoidal-output"] == "add" else 0))


@pytest.mark.parametrize("name", others_having("sinusoidal_2d"))
def test_sinusoidal_2d(name):
    declared = shipped(name).declared("sinusoidal_2d")
    first = int(declared.get("sinusoidal-offset", 0))
    rows, columns = (
        laid_out(*sine_and_cosine(torch.arange(first, first + n).double(), 8), declared["grid-layout"]) for n in (3, 5)
    )
    halves = [columns.expand(3, 5, 8), rows[:, None].expand(3, 5, 8)]
    want = torch.cat(halves if declared["grid-axes"] == "width-first" else halves[::-1], dim=-1)
    out = call(name, "sinusoidal_2d", contract.Sinusoidal2dConfig(16, dtype=torch.float64), {}, 3, 5)
    check(name, "sinusoidal_2d", "grid", out, want)


@pytest.mark.parametrize("what", POSITIONS)
@pytest.mark.parametrize("name", others_having("learned"))
def test_learned(name, what):
    offset = int(shipped(name).declared("learned")["learned-offset"])
    table = numbers(10 + offset, 6).requires_grad_()
    given = {} if what == "none" else {"positions": POSITIONS[what]}
    out = call(name, "learned", contract.LearnedConfig(6, 10), {"table.weight": table}, numbers(2, 5, 6), **given)
    if out is not None:
        want = table[(POSITIONS[what] if given else COUNT) + offset].expand(2, 5, 6)
        check(name, "learned", what, out, want)
        slope = numbers(2, 5, 6, seed=1)
        check(name, "learned", what, *(torch.autograd.grad((y * slope).sum(), table)[0] for y in (out, want)))


def turned(x, positions, pairing):
    """Return x (B, H, L, E) as complex numbers, one for each pair, turned."""
    first, second = (x[..., 0::2], x[..., 1::2]) if pairing == "interleaved" else x.chunk(2, dim=-1)
    sin, cos = sine_and_cosine(positions.double(), x.shape[-1])
    turn = torch.complex(cos, sin) if positions.ndim == 1 else torch.complex(cos, sin)[:, None]
    y = torch.complex(first, second) * turn
    return (
        torch.stack([y.real, y.imag], dim=-1).flatten(-2)
        if pairing == "interleaved"
        else torch.cat([y.real, y.imag], dim=-1)
    )


@pytest.mark.parametrize("width", [8, 6])
@pytest.mark.parametrize("what", POSITIONS)
@pytest.mark.parametrize("name", others_having("rotary"))
def test_rotary(name, what, width):
    x = numbers(2, 3, 5, 8).requires_grad_()
    given = {} if what == "none" else {"positions": POSITIONS[what]}
    out = call(name, "rotary", contract.RotaryConfig(8, width, dtype=torch.float64), {}, x, **given)
    if out is not None:
        at = POSITIONS[what] if given else COUNT
        pairing = shipped(name).declared("rotary")["rope-pairing"]
        want = torch.cat([turned(x[..., :width], at, pairing), x[..., width:]], dim=-1)
        check(name, "rotary", what, out, want)
        if shipped(name).profile == "inference-1":
            return
        slope = numbers(2, 3, 5, 8, seed=1)
        check(name, "rotary", what, *(torch.autograd.grad((y * slope).sum(), x)[0] for y in (out, want)))


def attended(scores, value, causal):
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(dim=-1) @ value


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", others_having("rotary_attention"))
def test_rotary_attention(name, causal):
    q, k, v = (numbers(2, 3, 5, 8, seed=i) for i in range(3))
    config = contract.RotaryAttentionConfig(3, 8, causal=causal, dtype=torch.float64)
    pairing = shipped(name).declared("rotary_attention")["rope-pairing"]
    scores = turned(q, COUNT, pairing) @ turned(k, COUNT, pairing).mT / math.sqrt(8)
    out = call(name, "rotary_attention", config, {}, q, k, v)
    check(name, "rotary_attention", str(causal), out, attended(scores, v, causal))


def penalty(heads, length):
    """Return ALiBi's bias for a power of two of heads."""
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)], dtype=torch.float64)
    at = torch.arange(length)
    return -slopes[:, None, None] * (at[:, None] - at).abs()


@pytest.mark.parametrize("name", others_having("alibi"))
def test_alibi(name):
    out = call(name, "alibi", contract.AlibiConfig(8, dtype=torch.float64), {}, 7, 7)
    seen = torch.ones(7, 7, dtype=torch.bool).tril()
    differences = [(bias - bias[..., :1]).masked_fill(~seen, 0.0) for bias in (out, penalty(8, 7))]
    check(name, "alibi", "causal", *differences)


@pytest.mark.parametrize("name", others_having("alibi_attention"))
def test_alibi_attention(name):
    q, k, v = (numbers(2, 8, 7, 5, seed=i) for i in range(3))
    out = call(name, "alibi_attention", contract.AlibiAttentionConfig(8, 5, dtype=torch.float64), {}, q, k, v)
    check(name, "alibi_attention", "causal", out, attended(q @ k.mT / math.sqrt(5) + penalty(8, 7), v, True))


def t5(table, length, bidirectional):
    """Return T5's bias for 32 buckets over up to 12 tokens, with the buckets counted one by one."""
    first = 8 if bidirectional else 16  # so many distances have a bucket of their own
    bias = torch.empty(table.shape[1], length, length, dtype=table.dtype)
    for i in range(length):
        for j in range(length):
            distance = abs(i - j) if bidirectional else max(i - j, 0)
            step = math.log(distance / first) / math.log(128 / first) * first if distance >= first else 0
            bias[:, i, j] = table[min(distance, first) + int(step) + (16 if bidirectional and j > i else 0)]
    return bias


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("name", others_having("relative_bias"))
def test_relative_bias(name, bidirectional):
    table = numbers(32, 3).requires_grad_()
    config = contract.RelativeBiasConfig(3, bidirectional=bidirectional)
    out, want = call(name, "relative_bias", config, {"table.weight": table}, 40, 40), t5(table, 40, bidirectional)
    check(name, "relative_bias", "square", out, want)
    slope = numbers(3, 40, 40, seed=1)
    check(name, "relative_bias", "square", *(torch.autograd.grad((y * slope).sum(), table)[0] for y in (out, want)))


@pytest.mark.parametrize(("causal", "cross"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("name", others_having("relative_bias_attention"))
def test_relative_bias_attention(name, causal, cross):
    q, (k, v) = numbers(2, 3, 7, 4), (numbers(2, 3, 9 if cross else 7, 4, seed=i) for i in (1, 2))
    table = numbers(32, 3, seed=3)
    config = contract.RelativeBiasAttentionConfig(3, 4, causal=causal, cross=cross)
    out = call(name, "relative_bias_attention", config, {} if cross else {"table.weight": table}, q, k, v)
    bias = 0.0 if cross else t5(table, 7, not causal)
    check(name, "relative_bias_attention", "square", out, attended(q @ k.mT + bias, v, causal))
