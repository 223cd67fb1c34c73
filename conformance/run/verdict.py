"""The verdict on each component: a pure function of its results."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attnconf.conformance.engine.request import GUESS, Implementation, Unjudgeable
from attnconf.conformance.run.plan import Plan

Result = dict[str, Any]


def verdicts(plan: Plan, results: Sequence[Result]) -> list[Result]:
    """Return the verdicts on all components of all implementations, as the results schema describes them."""
    return [v for i in plan.implementations for v in _verdicts(plan, i, results)]


def _verdicts(plan: Plan, i: Implementation | Unjudgeable, results: Sequence[Result]) -> list[Result]:
    if isinstance(i, Unjudgeable):
        return [_verdict(i.name, None, "not-gradable", i.reason, {})]
    verdicts_of = []
    for component in i.components:
        mine = [r for r in results if (r["implementation"], r["component"]) == (i.name, component)]
        planned = [p for p in plan.planned if p.implementation is i and p.entry.component == component]
        if planned:
            verdict, reason = judge_component(mine, len(planned), plan.selected, plan.settings.strict)
            if verdict == "conformant" and i.binding and not i.binding.established:
                doubt = i.binding.doubt or f"the binding is {GUESS}"
                verdict, reason = "incomplete", f"equivalence not established: {doubt}"
            verdicts_of.append(_verdict(i.name, component, verdict, reason, Counter(r["outcome"] for r in mine)))
    return verdicts_of


def _verdict(name: str, component: str | None, verdict: str, reason: str, counts: dict[str, int]) -> Result:
    ordered = dict(sorted(counts.items()))
    return {"implementation": name, "component": component, "verdict": verdict, "reason": reason, "counts": ordered}


def judge_component(results: Sequence[Result], planned: int, selected: bool, strict: bool) -> tuple[str, str]:
    """Return (verdict, reason) from the outcomes of one component."""
    by = {o: [r for r in results if r["outcome"] == o] for o in ("error", "fail", "unsupported", "not-run")}
    violated = [r["requirement"] for r in by["fail"] if strict or r["strength"] == "MUST"]
    lacking = sorted({r["requirement"] for o in ("unsupported", "not-run") for r in by[o] if not r["optional"]})
    if by["error"]:
        return "not-gradable", f"the suite itself failed on {', '.join(r['requirement'] for r in by['error'])}"
    if violated:
        roots = [r["requirement"] for r in by["fail"] if r["requirement"] in violated and not r["follows_from"]]
        return "nonconformant", f"violates {', '.join(roots or violated)}"
    if len(results) < planned:
        return "incomplete", f"{planned - len(results)} of {planned} planned checks were not judged"
    if selected:
        return "incomplete", "only a selection was judged"
    if lacking:
        words = sorted({r["message"] or "" for o in ("unsupported", "not-run") for r in by[o] if not r["optional"]})
        return "incomplete", f"{len(lacking)} required not supported ({'; '.join(words)})"
    return "conformant", ""
