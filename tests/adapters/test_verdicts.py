"""The shipped adapters get the verdicts that can be justified by hand; PyTorch's fast path is among what is judged."""

import os
from collections import Counter
from pathlib import Path

import pytest
import torch
from shipped import EXPECTED, NOT_ALWAYS_THERE, shipped, there, variants

from attnconf.conformance.engine.catalogue import adapter_names
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.conformance.run.record import record
from attnconf.conformance.run.relate import stale
from attnconf.reports.record import write

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def judged(together):
    """Return the function that gives (record, stale deviations) of an adapter, by the profile that it claims.

    The records stay in the folder KEEP_RESULTS_IN, for the report that .ci/run makes of them.
    """
    folder = os.environ.get("KEEP_RESULTS_IN")

    def judge(adapter):
        run = judge_all(make_plan(list(variants(adapter).values()), Settings()))
        content = record(run)
        if folder:
            write(Path(folder) / f"{adapter}.json", content)
        return content, stale(run)

    return lambda adapter: together.value(f"verdicts of {adapter}", lambda: judge(adapter))


ADAPTERS = [name for name in adapter_names() if there(name)]


def test_only_what_wants_more_than_there_is_everywhere_is_not_judged():
    assert set(adapter_names()) - set(ADAPTERS) <= set(NOT_ALWAYS_THERE)
    assert {name.partition(":")[0] for name, _ in EXPECTED} >= set(adapter_names()) - {"flash_attn"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_adapter_gets_the_verdict_that_is_expected(adapter, judged):
    content, no_longer_seen = judged(adapter)
    expected = {key: value for key, value in EXPECTED.items() if key[0].partition(":")[0] == adapter}
    got = {(v["implementation"], v["component"]): v["verdict"] for v in content["verdicts"]}
    assert got == {key: verdict for key, (verdict, _, _) in expected.items()}
    roots = {key: set() for key in expected}
    for r in content["results"]:
        if r["outcome"] == "fail" and r["strength"] == "MUST" and not r["follows_from"]:
            roots[r["implementation"], r["component"]].add(r["requirement"])
    assert roots == {key: musts for key, (_, musts, _) in expected.items()}
    assert no_longer_seen == []


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_every_violation_by_a_shipped_adapter_is_known_with_reason_and_link(adapter, judged):
    content, _ = judged(adapter)
    violations = [r for r in content["results"] if r["outcome"] == "fail" and r["strength"] == "MUST"]
    expected = [musts for key, (_, musts, _) in EXPECTED.items() if key[0].partition(":")[0] == adapter if musts]
    assert bool(violations) == bool(expected)
    assert all(r["deviation"] and r["deviation"]["link"].startswith("https://") for r in violations)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_no_outcome_is_a_fault_of_the_suite(adapter, judged):
    assert Counter(r["outcome"] for r in judged(adapter)[0]["results"])["error"] == 0


def test_the_cases_enter_the_fast_path_of_torch(monkeypatch):
    calls = Counter()
    fast = torch._native_multi_head_attention

    def counting(*arguments, **options):
        calls["fast"] += 1
        return fast(*arguments, **options)

    monkeypatch.setattr(torch, "_native_multi_head_attention", counting)
    plan = make_plan([shipped("torch_nn")], Settings())
    run = judge_all(only(plan, lambda planned: planned.entry.requirement == "MHA-MODE-1"))
    assert {judged.outcome for judged in run.outcomes.values()} == {"pass"}
    assert calls["fast"] >= 8  # evaluation × (no_grad, inference_mode) × two dtypes × (no mask, key mask)
