"""Packed sequences are right however it is told where documents end, and mistakes are named."""

from dataclasses import replace

import pytest
import torch

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.run import judge
from attnconf.conformance.run import record as results

torch.set_num_threads(1)
NONE = {
    "kv-heads": "same", "score-scale": "fixed", "score-cap": "none", "window": "none", "positions-inside": "none",
    "qk-norm": "none", "qk-norm-over": "head", "qk-norm-place": "before", "sinks": "none", "output-gate": "none",
}  # fmt: skip
DECLARED = (
    {"packing": "segment-ids"},
    {"packing": "cu-seqlens", "positions-inside": "rotary", "rope-pairing": "half", "kv-heads": "grouped"},
    {"packing": "cu-seqlens", "positions-inside": "alibi", "window": "given"},
    {"packing": "any", "causality": "always"},
)


def judged(declares, mutants=()):
    base = in_conventions(apply(mutants), {**NONE, **declares})
    only = {"packed_attention": base.components["packed_attention"]}
    record = results.record(judge([replace(base, name="packed", components=only, declares={**NONE, **declares})]))
    roots = {r["requirement"] for r in record["results"] if r["outcome"] in ("fail", "error") and not r["follows_from"]}
    named = {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"]}
    return record["verdicts"][0]["verdict"], roots, named


@pytest.mark.parametrize("declares", DECLARED, ids=lambda d: "-".join(d.values()))
def test_what_is_right_conforms(declares):
    assert judged(declares)[:2] == ("conformant", set())


@pytest.mark.parametrize(
    ("declares", "mutant"),
    [
        ({"packing": "segment-ids"}, "PACK-causal-alone"),
        ({"packing": "segment-ids"}, "PACK-zero-is-padding"),
        ({"packing": "cu-seqlens"}, "PACK-bound-included"),
        ({"packing": "cu-seqlens", "positions-inside": "rotary", "rope-pairing": "half"}, "PACK-keys-run-on"),
    ],
)
def test_a_mistake_is_named(declares, mutant):
    verdict, _, named = judged(declares, [all_mutants()[mutant]])
    assert verdict == "nonconformant"
    assert mutant in named
