"""Members of the attention family are right in all that is asked of attention, whatever they have inside."""

from dataclasses import replace

import pytest
import torch

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.member_lens import ENTRIES
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results

torch.set_num_threads(1)
PLAIN = {"positions-inside": "none", "qk-norm": "none", "qk-norm-over": "head", "qk-norm-place": "before",
         "sinks": "none", "output-gate": "none"}  # fmt: skip
MEMBERS = (
    {"positions-inside": "rotary"},
    {"positions-inside": "rotary", "rope-pairing": "half", "qk-norm": "rms", "qk-norm-place": "after"},
    {"positions-inside": "alibi"},
    {"positions-inside": "relative-bias", "qk-norm": "layer"},
    {"qk-norm": "layer", "qk-norm-over": "width", "output-gate": "heads"},
    {"sinks": "add-one"},
    {"positions-inside": "rotary", "qk-norm": "rms", "sinks": "learned", "output-gate": "features"},
)
KINDS = (
    ("", {}),
    ("self-attention-1", {"inputs": "self"}),
    ("causal-self-attention-1", {"inputs": "self", "causality": "always"}),
)


def judged(declares, profile="", mutants=()):
    """Return the verdict on the reference, or mutants of it, that declares this, and the roots."""
    base = in_conventions(apply(mutants), {**apply([]).declares, **PLAIN, **declares})
    only = {"multi_head_attention": base.components["multi_head_attention"]}
    one = replace(base, name="member", components=only, profile=profile or None)
    record = results.record(judge([one]))
    roots = {r["requirement"] for r in record["results"] if r["outcome"] in ("fail", "error") and not r["follows_from"]}
    return record["verdicts"][0], roots


@pytest.mark.parametrize(("profile", "kind"), KINDS, ids=[profile or "cross" for profile, _ in KINDS])
@pytest.mark.parametrize("inside", MEMBERS, ids=["-".join(member.values()) for member in MEMBERS])
def test_a_right_member_conforms(inside, profile, kind):
    verdict, roots = judged({**inside, **kind}, profile)
    assert not roots
    assert verdict["verdict"] == "conformant", verdict
    assert verdict["choices"].items() >= inside.items()


@pytest.mark.parametrize(
    ("inside", "mutant", "root"),
    [
        ({"positions-inside": "rotary"}, "FAM-keys-not-turned", "FAM-ROTARY-1"),
        ({"positions-inside": "rotary"}, "ATT-unscaled", "ATT-SCALE-1"),
        ({"positions-inside": "alibi"}, "FAM-bias-subtracted", "FAM-ALIBI-1"),
        ({"qk-norm": "rms"}, "MHA-merge-without-transpose", "ATT-HEAD-1"),
        ({"sinks": "learned"}, "FAM-one-sink", "FAM-SINK-2"),
    ],
)
def test_a_wrong_member_does_not(inside, mutant, root):
    verdict, roots = judged(inside, mutants=[all_mutants()[mutant]])
    assert verdict["verdict"] == "nonconformant"
    assert root in roots


def test_a_member_is_asked_for_nothing_else():
    verdict, _ = judged({"positions-inside": "rotary"})
    assert set(ENTRIES) >= set(PLAIN) - {"rope-pairing"}
    assert verdict["choices"]["positions-inside"] == "rotary"
