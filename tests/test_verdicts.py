"""The shipped adapters get the verdicts that can be justified by hand; PyTorch's fast path is among what is judged."""

from collections import Counter

import pytest
import torch

from attnconf.conformance.loading import load
from attnconf.conformance.names import adapter_names
from attnconf.conformance.results import record
from attnconf.conformance.session import Session, Settings

torch.set_num_threads(1)

MISMATCH = "takes values that do not fit the keys (pytorch#193728)"
TWO_WAYS = "gives a row without keys NaN or zeros, by need_weights (pytorch#160064)"
# (implementation, component): verdict, the MUSTs at the root of it, and why
EXPECTED = {
    ("reference", "attention"): ("conformant", set(), "the formula itself"),
    ("reference", "multi_head_attention"): ("conformant", set(), "the formula itself"),
    ("torch_nn", "attention"): ("nonconformant", {"ATT-ERROR-1"}, MISMATCH),
    ("torch_nn", "multi_head_attention"): ("nonconformant", {"MASK-EMPTY-2"}, TWO_WAYS),
    ("torch_sdpa:math", "attention"): ("conformant", set(), "the textbook in C++"),
    ("torch_sdpa:math", "multi_head_attention"): ("conformant", set(), "the textbook in C++"),
    ("torch_sdpa:flash", "attention"): ("nonconformant", {"ATT-ERROR-1"}, MISMATCH),
    ("torch_sdpa:flash", "multi_head_attention"): ("nonconformant", {"ATT-ERROR-1"}, MISMATCH),
    ("einops_separate", "multi_head_attention"): ("conformant", set(), "right, with -inf in hidden scores"),
    ("projected_torch", "multi_head_attention"): ("nonconformant", {"MASK-EMPTY-2"}, TWO_WAYS),
    ("fused_per_head", "multi_head_attention"): ("conformant", set(), "right, for self-attention"),
    ("fused_zero_one_mask", "multi_head_attention"): ("conformant", set(), "-1e9 hides all scores above -1e5"),
    ("causal_narrowing", "multi_head_attention"): ("conformant", set(), "right, for causal self-attention"),
}


@pytest.fixture(scope="module")
def verdicts():
    """Return the session and the record of a run over all shipped adapters, each by the profile it claims."""
    session = Session([i for name in adapter_names() for i in load(name)], Settings())
    session.make_plan()
    for planned in session.plan:
        session.run(planned)
    return session, record(session)


def test_every_adapter_gets_the_verdict_that_is_expected(verdicts):
    session, content = verdicts
    got = {(v["implementation"], v["component"]): v["verdict"] for v in content["verdicts"]}
    assert got == {key: verdict for key, (verdict, _, _) in EXPECTED.items()}
    roots = {key: set() for key in EXPECTED}
    for r in content["results"]:
        if r["outcome"] == "fail" and r["strength"] == "MUST" and not r["follows_from"]:
            roots[r["implementation"], r["component"]].add(r["requirement"])
    assert roots == {key: musts for key, (_, musts, _) in EXPECTED.items()}
    assert session.stale() == []


def test_every_violation_by_a_shipped_adapter_is_known_with_reason_and_link(verdicts):
    _, content = verdicts
    violations = [r for r in content["results"] if r["outcome"] == "fail" and r["strength"] == "MUST"]
    assert violations
    assert all(r["deviation"] and r["deviation"]["link"].startswith("https://") for r in violations)


def test_no_outcome_is_a_fault_of_the_suite(verdicts):
    _, content = verdicts
    assert Counter(r["outcome"] for r in content["results"])["error"] == 0


def test_the_cases_enter_the_fast_path_of_torch(monkeypatch):
    calls = Counter()
    fast = torch._native_multi_head_attention

    def counting(*arguments, **options):
        calls["fast"] += 1
        return fast(*arguments, **options)

    monkeypatch.setattr(torch, "_native_multi_head_attention", counting)
    session = Session(load("torch_nn"), Settings())
    session.make_plan()
    for planned in session.plan:
        if planned.entry.requirement == "MHA-MODE-1":
            assert session.run(planned).outcome == "pass"
    assert calls["fast"] >= 8  # evaluation × (no_grad, inference_mode) × two dtypes × (no mask, key mask)
