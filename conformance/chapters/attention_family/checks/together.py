"""Checks of the chapter spec/attention_family.md: members, and pairs of what they are made of, against the formula."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from torch import Tensor

from attnconf.conformance.chapters.attention_family import stimuli
from attnconf.conformance.chapters.attention_family.stimuli import grouped
from attnconf.conformance.chapters.multi_head_attention.checks.together import compare_all
from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.masks import causal

Evidence = Iterator[Measure]

# What a member is asked for, by the convention that it declares.
PARTS: dict[str, dict[str, Any]] = {
    "kv-heads": {},
    "score-scale": {"scale": 0.37},
    "score-cap": {"softcap": 1.5},
    "window": {"window": (2, 1)},
}


def members(subject: Subject) -> Iterator[tuple[str, ...]]:
    """Yield what a member is made of: each part that the subject offers, and each pair of them."""
    there = [part for part in PARTS if subject.offers(part)]
    yield from ((part,) for part in there)
    yield from combinations(there, 2)


def formula(layer: Call) -> tuple[Tensor, Tensor]:
    """Return (output, weights) of the reference."""
    query, config = layer.inputs["query"], layer.config
    key, value = layer.inputs.get("key", query), layer.inputs.get("value", query)
    mask = causal(query.shape[1], key.shape[1]).to(query.device) if config.causal else None
    member = Member(config.num_kv_heads, config.scale, config.softcap, config.window)
    return family_attention(query, key, value, layer.weights, config.num_heads, member, mask)


@requirement("FAM-ORACLE-1", stimuli.GROUPED_ONCE)
def members_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    for parts in members(subject):
        layer = grouped(subject, case) if "kv-heads" in parts else layer_for(subject, case)
        for part in parts:
            layer = layer.with_config(**PARTS[part])
        yield from compare_all(subject, case, layer, formula)
