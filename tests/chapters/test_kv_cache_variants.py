"""Caches of many kinds are right, and mistakes in them are named, whatever is declared of the family."""

from dataclasses import replace

import pytest
import torch

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.chapters.kv_cache.stimuli import compositions
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
    {},
    {"positions-inside": "rotary", "rope-pairing": "half", "kv-heads": "grouped"},
    {"positions-inside": "alibi", "window": "given"},
    {"positions-inside": "relative-bias"},
    {"sinks": "learned", "window": "given", "earlier-cache": "consumed"},
    {"qk-norm": "layer", "qk-norm-over": "width", "output-gate": "heads", "masks": "none"},
)


def judged(declares, mutants=(), wrap=None):
    base = in_conventions(apply(mutants), {**NONE, **declares})
    build = base.components["cached_attention"]
    own = {**NONE, **declares}
    only = {"cached_attention": (lambda config, weights: wrap(build(config, weights))) if wrap else build}
    record = results.record(judge([replace(base, name="cache", components=only, declares=own)]))
    roots = {r["requirement"] for r in record["results"] if r["outcome"] in ("fail", "error") and not r["follows_from"]}
    named = {m for r in record["results"] for d in r["diagnosis"] for m in d["mutants"]}
    return record["verdicts"][0]["verdict"], roots, named


@pytest.mark.parametrize("declares", DECLARED, ids=lambda d: "-".join(d.values()) or "plain")
def test_a_right_cache_conforms(declares):
    assert judged(declares)[:2] == ("conformant", set())


class Paged:
    """Keeps the caches of all sequences in one table of pages; what is handed out is a row of numbers."""

    def __init__(self, own):
        self.own, self.pages = own, {}

    def kept(self, cache):
        self.pages[len(self.pages)] = cache
        return len(self.pages) - 1

    def empty(self, batch):
        return self.kept(self.own.empty(batch))

    def step(self, x, cache, **beside):
        out, after = self.own.step(x, self.pages[cache], **beside)
        return out, self.kept(after)


def test_a_cache_may_be_anything_and_what_is_optional_may_lack():
    assert judged({"positions-inside": "rotary"}, wrap=Paged)[:2] == ("conformant", set())


@pytest.mark.parametrize(
    ("declares", "mutant"),
    [
        ({}, "CACHE-top-left"),
        ({"positions-inside": "rotary", "rope-pairing": "half"}, "CACHE-offset-forgotten"),
        ({"window": "given"}, "CACHE-ring-not-turned"),
        ({"kv-heads": "grouped"}, "CACHE-groups-in-turn"),
        ({}, "CACHE-mask-forgotten"),
        ({}, "CACHE-written-into"),
    ],
)
def test_a_mistake_is_named(declares, mutant):
    verdict, roots, named = judged(declares, [all_mutants()[mutant]])
    assert verdict == "nonconformant"
    assert roots
    assert mutant in named


def test_what_is_consumed_is_not_used_again():
    verdict, roots, _ = judged({"earlier-cache": "consumed"}, [all_mutants()["CACHE-written-into"]])
    assert (verdict, roots) == ("conformant", set())


def test_every_way_to_cut_a_length_is_tried():
    assert len(list(compositions(5))) == len(set(compositions(5))) == 16
    assert all(sum(lengths) == 5 for lengths in compositions(5))
