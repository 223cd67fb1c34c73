"""The record of a run, as reports/schema/results-1.json describes it. Everything people read is made from it."""

import math
import os
import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attnconf
from attnconf.conformance import texts
from attnconf.conformance.door import GUESS, Implementation
from attnconf.conformance.judge import CaseResult
from attnconf.conformance.loading import Unjudgeable
from attnconf.conformance.locating import place
from attnconf.conformance.mutation import Mutant
from attnconf.conformance.regions import region
from attnconf.conformance.session import Planned, Session
from attnconf.conformance.usual_causes import usual_cause
from attnconf.reports.record import SCHEMA
from attnconf.spec import profiles, registry


def record(session: Session) -> dict[str, Any]:
    """Return everything there is to say of a run, as plain data without NaN or infinity."""
    results = [_result(session, planned) for planned in session.plan if planned.id in session.outcomes]
    if session.complete:
        _add_reference(results)
    return {
        "schema": SCHEMA,
        "suite": {
            "version": attnconf.__version__,
            "spec": attnconf.__version__,
            "commit": _commit(),
            "profile": session.settings.profile or profiles.DEFAULT,
            "seed": session.settings.seed,
            "strict": session.settings.strict,
            "selected": session.selected,
            "prescribed": dict(session.settings.prescribed),
        },
        "environment": environment(session.settings.device),
        "implementations": [_implementation(session, i) for i in session.implementations],
        "planned": len(session.plan),
        "results": results,
        "verdicts": [v for i in session.implementations for v in _verdicts(session, i, results)],
        "complete": session.complete,
        "throughput": session.races.record() if session.races else None,
    }


def _add_reference(results: list[dict[str, Any]]) -> None:
    """Say what to read of the reference, for the failure to begin with in each implementation."""
    roots = [r for r in results if r["outcome"] == "fail" and not r["follows_from"] and not r["deviation"]]
    roots.sort(key=lambda r: r["strength"] != "MUST")
    for r in {r["implementation"]: r for r in reversed(roots)}.values():
        if registry.get(r["requirement"]).chapter == "throughput":
            continue  # it has no reference: the textbook is not what is fast
        functions = texts.references(registry.get(r["requirement"]))
        r["reference"] = [f"reference/{f.chapter}.py:{f.line} {f.name}" for f in functions[:2]]


def environment(device: str) -> dict[str, Any]:
    """Return versions, machine and threads."""
    import torch

    cuda = torch.cuda.get_device_name() if device.startswith("cuda") and torch.cuda.is_available() else None
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": device,
        "accelerator": cuda,
    }


def _commit() -> str | None:
    """Return the commit of the checkout that the suite runs from, or None."""
    git = Path(__file__).resolve().parents[1] / ".git"
    try:
        if git.is_file():  # a worktree: "gitdir: …/worktrees/name"
            git = Path(git.read_text().removeprefix("gitdir:").strip())
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head
        common = (git / (git / "commondir").read_text().strip()) if (git / "commondir").is_file() else git
        return (common / head.removeprefix("ref:").strip()).read_text().strip()
    except OSError:
        return None


def _implementation(session: Session, i: Implementation | Unjudgeable) -> dict[str, Any]:
    if isinstance(i, Unjudgeable):
        return {
            "name": i.name, "source": i.source, "version": None, "binding": "adapter", "components": [],
            "conventions": {}, "profile": None, "isolation": [], "bound": list(i.tried), "blind_spots": None,
        }  # fmt: skip
    return {
        "name": i.name, "source": i.source, "version": i.version, "binding": i.binding,
        "components": list(i.components), "conventions": _conventions(session, i),
        "profile": session.profile_of(i).name, "isolation": [], "bound": list(i.told),
        "blind_spots": session.watch.spots(i.source) if session.watch and session.complete else None,
    }  # fmt: skip


def _conventions(session: Session, i: Implementation) -> dict[str, str]:
    """Return what is declared, and what was observed where nothing is; with the component where two differ."""
    by_component = {component: dict(i.declared(component)) for component in i.components}
    for planned in session.plan:
        if planned.implementation is i and planned.id in session.outcomes:
            for convention, choice in session.outcomes[planned.id].convention.items():
                by_component[planned.entry.component].setdefault(convention, choice)
    found: dict[str, dict[str, str]] = {}
    for component, conventions in by_component.items():
        for convention, choice in conventions.items():
            found.setdefault(convention, {})[component] = choice
    flat: dict[str, str] = {}
    for convention, choices in found.items():
        one = len(set(choices.values())) == 1
        flat |= {convention if one else f"{convention} ({c})": choice for c, choice in choices.items()}
    return flat


def _result(session: Session, planned: Planned) -> dict[str, Any]:
    judged = session.outcomes[planned.id]
    failed = judged.outcome == "fail"
    deviation = session.deviation(planned) if failed else None
    requirement = judged.requirement
    return {
        "implementation": planned.implementation.name,
        "component": planned.entry.component,
        "lens": planned.entry.lens,
        "requirement": requirement.id,
        "strength": requirement.strength,
        "sentence": requirement.sentence,
        "spec": requirement.anchor,
        "topic": requirement.topic,
        "reference": [],
        "optional": planned.entry.optional,
        "check": judged.check,
        "outcome": judged.outcome,
        "reason": judged.reason,
        "message": judged.message,
        "convention": judged.convention,
        "follows_from": session.follows_from(planned) if failed else [],
        "deviation": {"reason": deviation.reason, "link": deviation.link} if deviation else None,
        "cases": [_case(case) for case in judged.cases],
        "explored": _case(judged.explored) if judged.explored else None,
        "diagnosis": _diagnosis(session, planned),
        "advice": _advice(session, planned),
        **_pictures(session, planned),
        "seconds": round(judged.seconds, 6),
    }


def _case(case: CaseResult) -> dict[str, Any]:
    details = case.failure.details if case.failure else {}
    return {
        "name": case.name, "described": case.described, "outcome": case.outcome, "message": case.message,
        "error": _finite(case.error), "bound": _finite(case.bound),
        "source": details.get("source"), "off": _finite(details.get("off")),
    }  # fmt: skip


def _finite(x: Any) -> float | None:
    return float(x) if isinstance(x, int | float) and math.isfinite(x) else None


def _diagnosis(session: Session, planned: Planned) -> list[dict[str, Any]]:
    found = session.diagnoses.get(planned.id)
    if found is None:
        return []
    return [_mistake(planned, mistake, found.cases) for mistake in found.mistakes]


def _mistake(planned: Planned, mistake: Sequence[Mutant], cases: int) -> dict[str, Any]:
    names = [m.id for m in mistake]
    judged = planned.implementation, planned.entry.component
    where, line, code = place(*judged, names) or (region(*judged, names), None, None)
    return {
        "mutants": names,
        "story": "; or ".join(m.story for m in mistake),
        "hint": "; or ".join(m.hint for m in mistake),
        "spec": f"spec/{mistake[0].chapter}.md#common-mistakes",
        "cases": cases,
        "where": where,
        "line": line,
        "code": code,
    }


def _advice(session: Session, planned: Planned) -> dict[str, Any] | None:
    """Return what to look at, and where, of a failure at the root that no known mistake reproduces; else None."""
    judged = session.outcomes[planned.id]
    at_root = judged.outcome == "fail" and not session.follows_from(planned) and not session.deviation(planned)
    if not at_root or not session.explained or planned.id in session.diagnoses:
        return None
    return {
        "hint": usual_cause(planned.entry.requirement),
        "where": region(planned.implementation, planned.entry.component),
    }


def _pictures(session: Session, planned: Planned) -> dict[str, Any]:
    drawn = session.pictures.get(planned.id)
    return {"example": drawn and drawn.example, "leaks": drawn and drawn.leaks}


def _verdicts(session: Session, i: Implementation | Unjudgeable, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(i, Unjudgeable):
        return [
            {"implementation": i.name, "component": None, "verdict": "not-gradable", "reason": i.reason, "counts": {}}
        ]
    verdicts = []
    for component in i.components:
        mine = [r for r in results if (r["implementation"], r["component"]) == (i.name, component)]
        planned = [p for p in session.plan if p.implementation is i and p.entry.component == component]
        if planned:
            verdict, reason = judge_component(mine, len(planned), session.selected, session.settings.strict)
            if verdict == "conformant" and not i.established:
                doubt = i.doubt or f"the binding is {GUESS}"
                verdict, reason = "incomplete", f"equivalence not established: {doubt}"
            counts = dict(sorted(Counter(r["outcome"] for r in mine).items()))
            verdicts.append(
                {
                    "implementation": i.name,
                    "component": component,
                    "verdict": verdict,
                    "reason": reason,
                    "counts": counts,
                }
            )
    return verdicts


def judge_component(results: list[dict[str, Any]], planned: int, selected: bool, strict: bool) -> tuple[str, str]:
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
