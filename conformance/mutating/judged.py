"""The suite's verdicts on a changed text, as `attnconf run` would give them."""

import contextlib
import io
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.inference import bindings
from attnconf.conformance.loading.resolve import source_of
from attnconf.conformance.mutating.copies import beside
from attnconf.conformance.mutating.situations import Bound
from attnconf.conformance.run import implementations
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record

REJECTED = ("nonconformant", "unrecognised", "incomplete", "not-gradable")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one component, and whether a known mistake was named."""

    component: str
    verdict: str
    reason: str = ""
    named: str = ""
    inside: str = ""  # the class or function that was judged


def judge(path: str, text: str, suffix: str) -> list[Verdict]:
    """Return the verdicts on all components of a text; ``suffix``: ":Class@component", as it was asked for."""
    torch.set_num_threads(1)
    printed = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder, torch.random.fork_rng(devices=[]),
        contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed),
    ):  # fmt: skip
        loaded = implementations.load(f"{beside(Path(path), text, Path(folder))}{suffix}")
        if not any(isinstance(one, Implementation) for one in loaded):
            return [Verdict("", "not-gradable", getattr(loaded[0], "reason", ""))]
        run = judge_all(make_plan(loaded, Settings()))
        explain_failures(run)
        content = record(run)
    inside = {i.name: i.binding.inside for i in loaded if isinstance(i, Implementation) and i.binding}
    return [_verdict(v, content["results"], inside.get(v["implementation"], "")) for v in content["verdicts"]]


def _verdict(v: Mapping[str, Any], results: Sequence[Mapping[str, Any]], inside: str) -> Verdict:
    """Return one verdict of a run's record, with the first known mistake that was named in what counts."""
    mine = [r for r in results if (r["implementation"], r["component"]) == (v["implementation"], v["component"])]
    stories = [diagnosis["story"] for r in mine if r["counts"] for diagnosis in r["diagnosis"]]
    return Verdict(v["component"] or "", v["verdict"], v["reason"] or "", "".join(stories[:1]), inside)


def binding(path: str, text: str, suffix: str) -> list[Bound]:
    """Return the bindings of a text, by which both sides are run. Raises LoadError where there is none."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        name, source = source_of(f"{beside(Path(path), text, Path(folder))}{suffix}")
        found, _ = bindings(source, name.chosen, name.component)
    return [Bound(b.place.name, b.draft.component, b.draft.body, tuple(b.draft.declares.items())) for b in found]


def worst(before: Sequence[Verdict], after: Sequence[Verdict]) -> Verdict:
    """Return the verdict that a change brought about: the worst on what conformed, or on what is there instead."""
    if len(after) == 1 and not after[0].component:
        return after[0]
    known = {v.component for v in before}
    instead = [v for v in after if v.component not in known]
    found: list[Verdict] = []
    for one in before:
        if one.verdict == "conformant":
            mine = [v for v in after if v.component == one.component] or instead
            found += mine or [Verdict(one.component, "not-gradable", "it is no longer found")]
    rank = {verdict: i for i, verdict in enumerate((*REJECTED, "conformant"))}
    return min(found, key=lambda v: rank[v.verdict])
