"""Right ways to write ALiBi, each in another style than the reference: all are conformant."""

import math

import pytest
import torch
from torch.nn import functional

from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.spec import profiles


def power_slopes(n):
    start = 2 ** (-(2 ** -(math.log2(n) - 3)))
    return [start * start**i for i in range(n)]


def published(n):
    if math.log2(n).is_integer():
        return power_slopes(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_slopes(closest) + published(2 * closest)[0::2][: n - closest]


def mosaic(n):
    above = 2 ** math.ceil(math.log2(n))
    m = torch.arange(1, above + 1, dtype=torch.float32).mul(8 / above)
    slopes = 1.0 / torch.pow(2, m)
    return (slopes if above == n else torch.cat([slopes[1::2], slopes[::2]])[:n]).tolist()


def geometric(n):
    return [2 ** (-8 * (h + 1) / n) for h in range(n)]


# Forms of the causal bias, all in float32, for L queries that are the last of S tokens: they differ by row constants.


def by_key(L, S):
    return torch.arange(S, dtype=torch.float32).expand(L, S)


def by_difference(L, S):
    return -(torch.arange(S - L, S)[:, None] - torch.arange(S)).float()


def by_difference_and_one(L, S):
    return by_difference(L, S) - 1


def by_distance(L, S):
    return by_difference(L, S).abs().neg()


def implementation(rule, form, declares, symmetric):
    def slopes(config, like):
        return torch.tensor(rule(config.num_heads), dtype=torch.float32, device=like)[:, None, None]

    def alibi(config, weights):
        if not (config.causal or symmetric):
            raise NotImplementedError("attention without causality")
        return lambda L, S: slopes(config, config.device) * form(L, S)

    def alibi_attention(config, weights):
        if not (config.causal or symmetric):
            raise NotImplementedError("attention without causality")

        def forward(query, key, value):
            L = query.shape[-2]
            added = slopes(config, query.device) * form(L, L)
            if config.causal:
                added = added.masked_fill(torch.ones(L, L, dtype=torch.bool).triu(1), float("-inf"))
            mask = added.to(query.dtype).expand(len(query), -1, -1, -1)
            return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)

        return forward

    return Implementation("variant", {"alibi": alibi, "alibi_attention": alibi_attention}, declares)


VARIANTS = {
    "published": implementation(published, by_distance, {"alibi-slopes": "published"}, True),
    "undeclared": implementation(published, by_distance, {}, True),
    "mosaic": implementation(mosaic, by_distance, {"alibi-slopes": "published"}, True),
    "geometric": implementation(geometric, by_distance, {"alibi-slopes": "geometric"}, True),
    "geometric undeclared": implementation(geometric, by_distance, {}, True),
    "by key": implementation(published, by_key, {}, False),
    "by difference": implementation(published, by_difference, {}, False),
    "one more": implementation(published, by_difference_and_one, {}, False),
}


def judged(variant, component):
    subject = Subject(VARIANTS[variant], component, "direct")
    wanted = [e.requirement for e in profiles.load("core-3").entries if e.component == component]
    return {name: judge_requirement(subject, check_of(name, subject.component)) for name in wanted}


@pytest.mark.parametrize("component", ["alibi", "alibi_attention"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_right_implementation_is_judged_right(variant, component):
    outcomes = {name: (j.outcome, j.message) for name, j in judged(variant, component).items() if j.outcome != "pass"}
    causal_only = variant in ("by key", "by difference", "one more")
    assert outcomes == ({"ALIBI-BOTH-1": ("unsupported", "attention without causality")} if causal_only else {})


@pytest.mark.parametrize(("variant", "rule"), [("undeclared", "published"), ("geometric undeclared", "geometric")])
def test_the_rule_for_other_numbers_of_heads_is_observed(variant, rule):
    for component in ("alibi", "alibi_attention"):
        assert judged(variant, component)["ALIBI-SLOPE-2"].convention == {"alibi-slopes": rule}
