"""Right implementations in other styles, with float32 tables and in both pairings, are judged right."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import profiles, registry

# -- halves, a module with a table that grows: as in transformers


def inverse_frequencies(config):
    """Return float32 frequencies and the attention factor, for every kind of scaling."""
    width, base, rules = config.rotary_dim, config.base, dict(config.scaling or ())
    kind, factor = rules.get("kind"), rules.get("factor", 1.0)
    if kind == "ntk":
        base = base * factor ** (width / (width - 2))
    inv_freq = 1.0 / (base ** (torch.arange(0, width, 2, dtype=torch.int64).float() / width))
    if kind == "linear":
        inv_freq = inv_freq / factor
    if kind == "llama3":
        low, high, length = (rules[n] for n in ("low_freq_factor", "high_freq_factor", "original_max_position"))
        wavelength = 2 * math.pi / inv_freq
        smooth = (length / wavelength - low) / (high - low)
        smoothed = (1 - smooth) * inv_freq / factor + smooth * inv_freq
        slow = torch.where(wavelength > length / low, inv_freq / factor, smoothed)
        inv_freq = torch.where(wavelength < length / high, inv_freq, slow)
    if kind == "yarn":
        ends = [
            width * math.log(rules["original_max_position"] / (rules[n] * 2 * math.pi)) / (2 * math.log(base))
            for n in ("beta_fast", "beta_slow")
        ]
        low, high = max(math.floor(ends[0]), 0), min(math.ceil(ends[1]), width - 1)
        ramp = ((torch.arange(width // 2).float() - low) / (high - low)).clamp(0, 1)
        inv_freq = inv_freq / factor * ramp + inv_freq * (1 - ramp)
    return inv_freq, rules.get("attention_factor", 1.0)


class HalfRotary(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.rotary_dim % 2 or config.rotary_dim > config.head_dim:
            raise ValueError(f"rotary_dim {config.rotary_dim} for {config.head_dim} features")
        self.width = config.rotary_dim
        self.inv_freq, self.length = inverse_frequencies(config)  # no buffer: module.to(dtype) leaves it alone

    def forward(self, x, position_ids):
        ids = position_ids if position_ids.ndim == 2 else position_ids[None]
        freqs = (self.inv_freq[None, :, None] @ ids[:, None, :].float()).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)[:, None]
        cos, sin = ((self.length * part).to(x.dtype) for part in (emb.cos(), emb.sin()))
        turning, passing = x[..., : self.width], x[..., self.width :]
        first, second = turning.chunk(2, dim=-1)
        turned = turning * cos + torch.cat((-second, first), dim=-1) * sin
        return torch.cat((turned, passing), dim=-1)


def half_rotary(config, weights):
    module = HalfRotary(config)
    return lambda x, *, positions=None: module(x, torch.arange(x.shape[2]) if positions is None else positions)


class Whole:
    """The configuration of rotary that goes with that of rotary_attention."""

    def __init__(self, config):
        self.head_dim = self.rotary_dim = config.head_dim
        self.base, self.max_len, self.scaling = config.base, config.max_len, None


def half_attention(config, weights):
    turn = half_rotary(Whole(config), {})

    def forward(query, key, value, *, positions=None):
        query, key = turn(query, positions=positions), turn(key, positions=positions)
        return F.scaled_dot_product_attention(query, key, value, is_causal=config.causal)

    return forward


# -- neighbours, complex float32 numbers and a table of max_len: as Llama was published


def complex_rotary(config, weights):
    if config.rotary_dim != config.head_dim and config.rotary_dim < config.head_dim:
        raise NotImplementedError("partial rotation")
    if config.scaling:
        raise NotImplementedError("scaling")
    if config.rotary_dim > config.head_dim:
        raise ValueError("rotary_dim > head_dim")
    freqs = 1.0 / (
        config.base ** (torch.arange(0, config.head_dim, 2)[: config.head_dim // 2].float() / config.head_dim)
    )
    table = torch.outer(torch.arange(config.max_len).float(), freqs)
    table = torch.polar(torch.ones_like(table), table)

    def forward(x, *, positions=None):
        if positions is not None:
            raise NotImplementedError("explicit positions")
        if x.shape[2] > config.max_len:
            raise ValueError(f"{x.shape[2]} tokens, at most {config.max_len}")
        as_complex = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(as_complex * table[: x.shape[2]]).flatten(3).type_as(x)

    return forward


def complex_attention(config, weights):
    turn = complex_rotary(Whole(config), {})

    def forward(query, key, value, *, positions=None):
        scores = turn(query, positions=positions) @ turn(key, positions=positions).transpose(2, 3)
        scores = scores / math.sqrt(config.head_dim)
        if config.causal:
            scores = scores + torch.full((query.shape[2],) * 2, float("-inf"), dtype=scores.dtype).triu(1)
        return F.softmax(scores.float(), dim=-1).type_as(query) @ value

    return forward


# -- neighbours, a table of whole matrices


def matrix_rotary(config, weights):
    if config.rotary_dim % 2:
        raise ValueError("odd")
    if config.scaling:
        raise NotImplementedError("scaling")
    rest = config.head_dim - config.rotary_dim
    powers = [config.base ** (-2 * i / config.rotary_dim) for i in range(config.rotary_dim // 2)]

    def matrix(p):
        blocks = [
            torch.tensor([[math.cos(p * w), -math.sin(p * w)], [math.sin(p * w), math.cos(p * w)]]) for w in powers
        ]
        return torch.block_diag(*blocks, torch.eye(rest))

    def forward(x, *, positions=None):
        if positions is None:
            positions = torch.arange(x.shape[2])
        each = positions.tolist() if positions.ndim == 2 else [positions.tolist()]
        if len(each[0]) != x.shape[2]:
            raise ValueError(f"{len(each[0])} positions for {x.shape[2]} tokens")
        table = torch.stack([torch.stack([matrix(p) for p in row]) for row in each]).to(x.dtype)
        return torch.einsum("blij,bhlj->bhli", table.expand(x.shape[0], -1, -1, -1), x)

    return forward


HALF = Implementation(
    "half", {"rotary": half_rotary, "rotary_attention": half_attention}, declares={"rope-pairing": "half"}
)
COMPLEX = Implementation(
    "complex", {"rotary": complex_rotary, "rotary_attention": complex_attention},
    declares={"rope-pairing": "interleaved"},
)  # fmt: skip
MATRIX = Implementation("matrix", {"rotary": matrix_rotary})
PARTIAL = {"ROPE-REST-1", "ROPE-PART-1"}
POSITIONS = {"ROPE-POS-1", "ROPE-POS-2", "ROPE-POS-3", "ROPE-POS-4", "ROPE-POS-5", "ROPE-CACHE-2"}
SCALINGS = {f"ROPE-SCALING-{n}" for n in (1, 2, 3, 4)}
UNSUPPORTED = {"half": set(), "complex": PARTIAL | POSITIONS | SCALINGS | {"ROPE-WIDTH-1"}, "matrix": SCALINGS}


def outcomes(implementation, component):
    entries = [e for e in profiles.load("core").entries if e.component == component]
    return {
        e.requirement: judge_requirement(Subject(implementation, component, e.lens), check_of(e.requirement, component))
        for e in entries
    }


@pytest.mark.parametrize(
    ("implementation", "component"),
    [(one, component) for one in (HALF, COMPLEX, MATRIX) for component in one.components],
    ids=lambda x: getattr(x, "name", x),
)
def test_a_right_implementation_is_judged_right(implementation, component):
    judged = outcomes(implementation, component)
    failed = {name: j.message for name, j in judged.items() if j.outcome not in ("pass", "unsupported")}
    assert failed.keys() <= {"CALL-EMPTY-1"}  # a SHOULD, which reshape(*x.shape[:-1], -1, 2) does not hold
    lacking = {name for name, j in judged.items() if j.outcome == "unsupported"}
    assert lacking == UNSUPPORTED[implementation.name] & set(judged)


def test_the_pairing_is_reported():
    for implementation, pairing in ((HALF, "half"), (COMPLEX, "interleaved"), (MATRIX, "interleaved")):
        assert outcomes(implementation, "rotary")["ROPE-PAIR-1"].convention == {"rope-pairing": pairing}


def test_the_other_pairing_than_declared_is_wrong_and_named():
    said = Implementation("half", {"rotary": half_rotary}, declares={"rope-pairing": "interleaved"})
    judged = outcomes(said, "rotary")
    failed = {name for name, j in judged.items() if j.outcome == "fail"}
    assert {name for name in failed if not registry.ancestors(name) & failed} == {"ROPE-PAIR-1"}
    assert "(the pairs are half)" in judged["ROPE-PAIR-1"].message
