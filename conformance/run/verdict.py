"""The verdict on each component: a pure function of its results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.diagnosis.not_computed import NOT_COMPUTED
from attnconf.conformance.engine.request import GUESS, Binding, Implementation, Unjudgeable
from attnconf.conformance.run.plan import Plan
from attnconf.spec import registry

Result = dict[str, Any]

# Whatever a file computes: the same the second time, and out of inputs that stay as they are.
PROOFS = ("CALL-REPEAT-1", "CALL-IMMUT-1", "MASK-IMMUT-1")


def verdicts(plan: Plan, results: Sequence[Result]) -> list[Result]:
    """Return the verdicts on all components of all implementations, as the results schema describes them."""
    return [v for i in plan.implementations for v in _verdicts(plan, i, results)]


def _verdicts(plan: Plan, i: Implementation | Unjudgeable, results: Sequence[Result]) -> list[Result]:
    if isinstance(i, Unjudgeable):
        return [_verdict(i.name, None, "not-gradable", i.reason, ())]
    verdicts_of = []
    for component in i.components:
        mine = [r for r in results if (r["implementation"], r["component"]) == (i.name, component)]
        planned = [p for p in plan.planned if p.implementation is i and p.entry.component == component]
        if planned:
            verdict, reason = judge_component(mine, len(planned), plan.selected)
            if verdict in ("conformant", "nonconformant") and i.binding and not i.binding.established:
                verdict, reason = _not_established(i.binding, component, mine, (verdict, reason))
            elif (
                verdict == "nonconformant"
                and i.binding
                and not (i.binding.broken or _understood(plan, i.binding, mine))
            ):
                verdict = "unrecognised"
                reason = f"is {component} but for {reason.removeprefix('violates ')}: not a mistake that is known"
            if verdict == "conformant" and i.binding and (why := _mostly_refused(mine)):
                verdict, reason = "incomplete", why
            if verdict == "conformant" and i.binding and i.binding.open_ends:
                verdict, reason = "incomplete", "; ".join(i.binding.open_ends)
            if verdict in ("conformant", "incomplete") and i.binding and i.binding.broken:
                verdict, reason = "nonconformant", "; ".join(i.binding.broken)
            verdicts_of.append(
                _verdict(i.name, component, verdict, reason, mine, _choices(i, component, mine), i.binding)
            )
    return verdicts_of


def _mostly_refused(results: Sequence[Result]) -> str:
    """Return why a file is not judged by what it was asked: it, or its binding, refused three quarters of that.

    Right files without an argument for a mask refuse half, and those of one sequence with a token in each column, more.
    """
    musts = [r for r in results if r["strength"] == "MUST" and r["cases"]]
    refused = [r for r in musts if r["outcome"] == "not-applicable"]
    if 4 * len(refused) <= 3 * len(musts):
        return ""
    words = Counter(r["message"] or "" for r in refused).most_common(1)[0][0]
    return f"{len(refused)} of {len(musts)} requirements could not be asked, most of them for: {words}"


def _verdict(
    name: str, component: str | None, verdict: str, reason: str, results: Sequence[Result],
    choices: Mapping[str, str] | None = None, binding: Binding | None = None,
) -> Result:  # fmt: skip
    return {
        "implementation": name, "component": component, "verdict": verdict, "reason": reason,
        "counts": dict(sorted(Counter(r["outcome"] for r in results).items())),
        "choices": dict(choices or {}), "qualities": _qualities(results),
        "broken": list(binding.broken if binding else ()), "untried": list(binding.untried if binding else ()),
    }  # fmt: skip


def _choices(i: Implementation, component: str, results: Sequence[Result]) -> dict[str, str]:
    """Return the declared and the observed choices that are not the first of their convention."""
    observed = {convention: choice for r in results for convention, choice in r["convention"].items()}
    choices = observed | {c: str(choice) for c, choice in i.declared(component).items()}
    return {
        c: choices[c] for c in COMPONENTS[component].conventions if choices.get(c, "") not in ("", CONVENTIONS[c][0])
    }


def _qualities(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    """Return by quality how many of its judged recommendations are met."""
    judged = [r for r in results if r["quality"] and r["settled"] and r["outcome"] in ("pass", "fail")]
    by = {q: [r["outcome"] == "pass" for r in judged if r["quality"] == q] for q in registry.QUALITIES}
    return {q: {"met": sum(met), "judged": len(met)} for q, met in by.items() if met}


def judge_component(results: Sequence[Result], planned: int, selected: bool) -> tuple[str, str]:
    """Return (verdict, reason) from the outcomes of one component."""
    by = {o: [r for r in results if r["outcome"] == o] for o in ("error", "fail", "unsupported", "not-run")}
    violated = [r for r in by["fail"] if r["counts"]]
    lacking = [r for o in ("unsupported", "not-run") for r in by[o] if r["counts"] and not r["optional"]]
    if by["error"]:
        return "not-gradable", f"the suite itself failed on {', '.join(r['requirement'] for r in by['error'])}"
    if violated:
        return "nonconformant", f"violates {_roots(violated)}"
    if len(results) < planned:
        return "incomplete", f"{planned - len(results)} of {planned} planned checks were not judged"
    if selected:
        return "incomplete", "only a selection was judged"
    if lacking:
        words = sorted({r["message"] or "" for r in lacking})
        return "incomplete", f"{len({r['requirement'] for r in lacking})} required not supported ({'; '.join(words)})"
    return "conformant", ""


def _roots(failed: Sequence[Result]) -> str:
    """Return the requirements at the root of failures, or all of them if none is."""
    return ", ".join([r["requirement"] for r in failed if not r["follows_from"]] or [r["requirement"] for r in failed])


def _understood(plan: Plan, binding: Binding, results: Sequence[Result]) -> bool:
    """Return whether what a file does wrong is known to be a mistake, and no way to do it that nobody thought of.

    So it is where a known mistake gives its numbers, where two equal calls differ, where an input is overwritten, where
    an argument has no effect, where the user said what it is or what it has to choose, and where a recommendation
    counts because the user asked for it.
    """
    failed = [r for r in results if r["outcome"] == "fail" and r["counts"] and not r["follows_from"]]
    proven = [r for r in failed if r["requirement"] in PROOFS and r["reason"] != "raised"]
    idle = [r for r in failed if str((r.get("advice") or {}).get("story", "")).endswith(IDLE)]
    asked = binding.named or bool(plan.settings.prescribed)
    return asked or bool(proven or idle) or any(r["diagnosis"] or r["strength"] != "MUST" for r in failed)


def _not_established(
    binding: Binding, component: str, results: Sequence[Result], verdict: tuple[str, str]
) -> tuple[str, str]:
    """Return the verdict on what nobody knows the parameters of: it is judged by what holds whatever they mean."""
    unsettled = [r for r in results if r["outcome"] == "fail" and not r["settled"] and r["strength"] == "MUST"]
    if verdict[0] == "nonconformant":
        empty = next(
            (d for r in results if r["counts"] for d in r["diagnosis"] if NOT_COMPUTED.id in d["mutants"]), None
        )
        if binding.named or empty:
            return (verdict[0], empty["story"]) if empty else verdict
        broken = next(r for r in results if r["outcome"] == "fail" and r["counts"])
        said = f"that {broken['check'].replace('_', ' ')} does not hold ({broken['requirement']})"
    elif unsettled:
        lacking = _roots(unsettled)
        said = f"read as the header says, {lacking} {'do' if ',' in lacking else 'does'} not hold"
    else:
        return "incomplete", f"equivalence not established: {binding.doubt or f'the binding is {GUESS}'}"
    why = binding.doubt if binding.mistake else "not a mistake that is known"
    return "unrecognised", f"computes something else than {component}: {said}; {why}"
