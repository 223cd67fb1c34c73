"""Checks of the chapter spec/attention_family.md: members, and pairs of what they are made of, against the formula."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

from torch import Tensor

from attnconf.conformance.chapters.attention_family import stimuli
from attnconf.conformance.chapters.attention_family.checks.shared import KINDS, Evidence, kinds, part_of
from attnconf.conformance.chapters.attention_family.stimuli import grouped
from attnconf.conformance.chapters.multi_head_attention.checks.together import compare_all
from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for, with_inside
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.member_lens import ENTRIES, entries
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.attention import ascending, in_pairs
from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.masks import causal

Part = tuple[tuple[str, Any], ...]  # entries of the configuration
OPTIONS: dict[str, Part] = {
    "kv-heads": (("num_kv_heads", "grouped"),),
    "score-scale": (("scale", 0.37),),
    "score-cap": (("softcap", 1.5),),
    "window": (("window", (2, 1)),),
    "rotary-part": (("rotary_dim", "part"), ("positions", "rotary")),
}


def parts(subject: Subject) -> Iterator[Part]:
    """Yield what a subject offers, each alone: an option, or a kind of what is inside where that is not fixed."""
    yield from (part for name, part in OPTIONS.items() if subject.offers(name))
    free = [name for name in KINDS if subject.choice(name) == "any"]
    for name in (n for n in free if n not in ("relative-values", "qk-norm-over", "qk-norm-place")):
        yield from (((ENTRIES[name], kind),) for kind in kinds(subject, name))
    if "relative-values" in free and subject.offers("shaw-inside"):
        yield (("positions", "shaw"), ("relative_values", "yes"))
    if "qk-norm-over" in free:
        yield (("qk_norm", "rms"), ("qk_norm_over", "width"))
    if "qk-norm-place" in free:
        yield (("qk_norm", "rms"), ("qk_norm_place", "after"), ("positions", "rotary"))


def members(subject: Subject) -> Iterator[dict[str, Any]]:
    """Yield the entries of a configuration for what the subject always has, each part, and each pair of parts."""
    there = list(parts(subject))
    yield {}
    yield from (dict(part) for part in there)
    for one, other in combinations(there, 2):
        if not {name for name, _ in one} & {name for name, _ in other}:
            yield {**dict(one), **dict(other)}


@dataclass(frozen=True)
class FormulaAs:
    """The formula where features are paired in halves, or tables of offsets begin with that of the latest keys."""

    halves: bool
    descending: bool

    def __call__(self, layer: Call) -> tuple[Tensor, Tensor]:
        """Return (output, weights) of the reference."""
        weights = layer.weights
        if self.halves and layer.config.positions == "rotary":
            weights = in_pairs(weights, layer.config.head_dim, layer.config.rotary_dim)
        return formula(replace(layer, weights=ascending(weights) if self.descending else weights))


def formula_for(subject: Subject) -> FormulaAs:
    """Return the formula in the layouts that a subject declares."""
    return FormulaAs(subject.choice("rope-pairing") == "half", subject.choice("offset-rows") == "descending")


def formula(layer: Call) -> tuple[Tensor, Tensor]:
    """Return (output, weights) of the reference."""
    query, config = layer.inputs["query"], layer.config
    key, value = layer.inputs.get("key", query), layer.inputs.get("value", query)
    mask = causal(query.shape[1], key.shape[1]).to(query.device) if config.causal else None
    own = {f.name: getattr(config, f.name) for f in fields(Member) if hasattr(config, f.name)}
    member = Member(**own, both_ways=not config.causal or config.positions != "relative-bias")
    return family_attention(query, key, value, layer.weights, config.num_heads, member, mask)


@requirement("FAM-ORACLE-1", stimuli.GROUPED_ONCE)
def members_are_those_of_the_formula(subject: Subject, case: Case) -> Evidence:
    right = formula_for(subject)
    for member in members(subject):
        shared = member.pop("num_kv_heads", None) is not None or subject.choice("kv-heads") == "one"
        layer = grouped(subject, case) if shared else layer_for(subject, case)
        if "rotary_dim" in member:
            member["rotary_dim"] = part_of(layer.config.head_dim)
        inside = {**entries(subject.declares), **{n: x for n, x in member.items() if n in ENTRIES.values()}}
        if (
            inside["positions"] == "shaw"
        ):  # where there are other keys, published code is not of one mind who stands where
            layer = replace(layer, inputs={"query": layer.inputs["query"]})
        layer = with_inside(layer, case, inside).with_config(**member)
        yield from compare_all(subject, case, layer, right)
