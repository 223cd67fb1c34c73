"""Right ways to write T5's relative bias, each in another style than the reference: all are conformant."""

import bisect
import math

import numpy as np
import pytest
import torch
from torch import nn

from attnconf.conformance.chapters.contents import all_checks, check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import profiles

# -- buckets of a matrix of key - query


def in_place(offset, bidirectional, num_buckets, max_distance):
    """As layers for PyTorch have it: a base that is added to, the logarithm in float32."""
    base = torch.zeros_like(offset)
    if bidirectional:
        num_buckets //= 2
        base = base + (offset > 0).long() * num_buckets
        offset = offset.abs()
    else:
        offset = -torch.min(offset, torch.zeros_like(offset))
    max_exact = num_buckets // 2
    ratio = torch.log(offset.float() / max_exact) / math.log(max_distance / max_exact)
    large = max_exact + (ratio * (num_buckets - max_exact)).to(torch.long)
    large = torch.min(large, torch.full_like(large, num_buckets - 1))
    return base + torch.where(offset < max_exact, offset, large)


def in_numpy(offset, bidirectional, num_buckets, max_distance):
    """As code for accelerators has it: query minus key, NumPy in float32 with a little added against log(0)."""
    n = -offset.numpy()
    found = np.zeros_like(n)
    if bidirectional:
        num_buckets //= 2
        found += (n < 0).astype(np.int64) * num_buckets
        n = np.abs(n)
    else:
        n = np.maximum(n, 0)
    exact = num_buckets // 2
    scaled = np.log(n.astype(np.float32) / exact + np.finfo(np.float32).eps) / np.log(max_distance / exact)
    large = np.minimum(exact + (scaled * (num_buckets - exact)).astype(np.int64), num_buckets - 1)
    return torch.from_numpy(found + np.where(n < exact, n, large))


def by_thresholds(offset, bidirectional, num_buckets, max_distance):
    """Without logarithms: the first distance of each bucket, found in whole numbers."""
    n = num_buckets // 2 if bidirectional else num_buckets
    exact = n // 2
    first = list(range(exact))
    for step in range(n - exact):  # the smallest d with (d/exact)^(n - exact) >= (max_distance/exact)^step
        d = exact
        while d ** (n - exact) * exact**step < max_distance**step * exact ** (n - exact):
            d += 1
        first.append(d)

    def one(r):
        distance = abs(r) if bidirectional else max(-r, 0)
        return bisect.bisect_right(first, distance) - 1 + (n if bidirectional and r > 0 else 0)

    span = range(int(offset.min()), int(offset.max()) + 1)
    return torch.tensor([one(r) for r in span])[offset - span.start]


def implementation(buckets, declares, scale="none", alignment="top-left"):
    def look_up(table, L, S, bidirectional, config):
        first = 0 if alignment == "top-left" else S - L
        offset = torch.arange(S)[None, :] - torch.arange(first, first + L)[:, None]
        found = buckets(offset, bidirectional, config.num_buckets, config.max_distance)
        return nn.functional.embedding(found, table).permute(2, 0, 1)

    def relative_bias(config, weights):
        return lambda L, S: look_up(weights["table.weight"], L, S, config.bidirectional, config)

    def relative_bias_attention(config, weights):
        def forward(query, key, value):
            scores = query @ key.transpose(-1, -2)
            if scale == "sqrt":
                scores = scores / math.sqrt(config.head_dim)
            L, S = scores.shape[-2:]
            if not config.cross:
                scores = scores + look_up(weights["table.weight"], L, S, not config.causal, config)
            if config.causal:
                scores = scores + torch.full((L, S), torch.finfo(scores.dtype).min, dtype=scores.dtype).triu(1)
            return scores.softmax(dim=-1) @ value

        return forward

    components = {"relative_bias": relative_bias, "relative_bias_attention": relative_bias_attention}
    return Implementation("variant", components, declares)


VARIANTS = {
    "in place": implementation(in_place, {"t5-scale": "none"}),
    "in numpy": implementation(in_numpy, {}),
    "by thresholds": implementation(by_thresholds, {}),
    "aligned right": implementation(in_place, {"t5-alignment": "bottom-right"}, alignment="bottom-right"),
    "scaled": implementation(in_place, {"t5-scale": "sqrt"}, scale="sqrt"),
}


@pytest.mark.parametrize("component", ["relative_bias", "relative_bias_attention"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_right_implementation_is_judged_right(variant, component):
    subject = Subject(VARIANTS[variant], component, "direct")
    wanted = [e.requirement for e in profiles.load("core-3").entries if e.component == component]
    outcomes = {name: judge_requirement(subject, check_of(name, subject.component)) for name in wanted}
    assert {name: (j.outcome, j.message) for name, j in outcomes.items() if j.outcome != "pass"} == {}


@pytest.mark.parametrize("scale", ["none", "sqrt"])
def test_an_undeclared_scale_is_observed(scale):
    subject = Subject(implementation(in_place, {}, scale), "relative_bias_attention", "direct")
    found = judge_requirement(subject, all_checks()["REL-SCALE-1"])
    assert (found.outcome, found.convention) == ("pass", {"t5-scale": scale})


@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_an_undeclared_alignment_is_observed(alignment):
    subject = Subject(implementation(in_place, {}, alignment=alignment), "relative_bias", "direct")
    found = judge_requirement(subject, all_checks()["REL-ALIGN-1"])
    assert (found.outcome, found.convention) == ("pass", {"t5-alignment": alignment})
