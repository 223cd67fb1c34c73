"""The record of a run, in the form of reports/schema/results-1.json. Everything people read is made from it."""

import math
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attnconf
from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.diagnosis.broken_argument import broken_argument, line_in, mended, without_line
from attnconf.conformance.diagnosis.locate import place
from attnconf.conformance.diagnosis.region import region
from attnconf.conformance.diagnosis.usual_causes import usual_cause
from attnconf.conformance.engine import catalogue
from attnconf.conformance.engine.judge import CaseResult
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.run.plan import Planned, Run
from attnconf.conformance.run.relate import Relations, relate
from attnconf.conformance.run.verdict import verdicts
from attnconf.reports.record import SCHEMA
from attnconf.spec import courses, profiles, registry


def record(run: Run) -> dict[str, Any]:
    """Return the record of a run, as plain data without NaN or infinity."""
    plan, settings, relations, own = run.plan, run.settings, relate(run), courses.used()
    results = [_result(run, relations, planned) for planned in plan.planned if planned.id in run.outcomes]
    if run.complete:
        _add_reference(results)
    return {
        "schema": SCHEMA,
        "suite": {
            "version": attnconf.__version__,
            "spec": attnconf.__version__,
            "commit": _commit(),
            "profile": settings.profile or profiles.DEFAULT,
            "default_profile": profiles.DEFAULT,
            "seed": settings.seed,
            "strict": settings.strict,
            "thorough": settings.thorough,
            "selected": plan.selected,
            "prescribed": dict(settings.prescribed),
            **({"course": {"name": own.shown, "digest": own.digest}} if own else {}),
        },
        "environment": environment(settings.device),
        "implementations": [_implementation(run, i) for i in plan.implementations],
        "planned": len(plan.planned),
        "results": results,
        "verdicts": verdicts(plan, results),
        "complete": run.complete,
        "throughput": run.races.record() if run.races else None,
    }


def _add_reference(results: list[dict[str, Any]]) -> None:
    """Add the place of the reference's function to the first failure of each implementation."""
    roots = [r for r in results if r["outcome"] == "fail" and not r["follows_from"] and not r["deviation"]]
    roots.sort(key=lambda r: not r["counts"])
    for r in {r["implementation"]: r for r in reversed(roots)}.values():
        if registry.get(r["requirement"]).chapter == "throughput":
            continue  # throughput has no reference
        requirement = registry.get(r["requirement"])
        own = catalogue.reference_of(r["component"]) if requirement.chapter == "calls" else []
        functions = own or catalogue.references(requirement)
        r["reference"] = [f"reference/{f.chapter}.py:{f.line} {f.name}" for f in functions[:2]]


def environment(device: str) -> dict[str, Any]:
    """Return versions, machine and threads."""
    import torch

    cuda = torch.cuda.get_device_name() if device.startswith("cuda") and torch.cuda.is_available() else None
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": device,
        "accelerator": cuda,
    }


def _commit() -> str | None:
    """Return the commit of the checkout that the suite runs from, or None."""
    git = Path(__file__).resolve().parents[2] / ".git"
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


def _implementation(run: Run, i: Implementation | Unjudgeable) -> dict[str, Any]:
    if isinstance(i, Unjudgeable):
        return {
            "name": i.name, "source": i.source, "version": None, "binding": "adapter", "components": [],
            "conventions": {}, "profile": None, "isolation": [], "bound": list(i.tried), "blind_spots": None,
        }  # fmt: skip
    return {
        "name": i.name, "source": i.source, "version": i.version, "binding": "inferred" if i.binding else "adapter",
        "components": list(i.components), "conventions": _conventions(run, i),
        "profile": run.plan.profiles[i.name].name, "isolation": list(i.apart.layers) if i.apart else [],
        "bound": list(i.notes),
        "blind_spots": run.recording.spots(i.source) if run.recording and run.complete else None,
    }  # fmt: skip


def _conventions(run: Run, i: Implementation) -> dict[str, str]:
    """Return the declared choices, else the observed ones; under "convention (component)" if two components differ.

    Of what an adapter declares for all of its components, each has what there is to choose in it.
    """
    by_component = {c: {k: v for k, v in i.declared(c).items() if k in COMPONENTS[c].conventions} for c in i.components}
    for planned in run.plan.planned:
        if planned.implementation is i and planned.id in run.outcomes:
            for convention, choice in run.outcomes[planned.id].convention.items():
                by_component[planned.entry.component].setdefault(convention, choice)
    by_convention: dict[str, dict[str, str]] = {}
    for component, conventions in by_component.items():
        for convention, choice in conventions.items():
            by_convention.setdefault(convention, {})[component] = choice
    flat: dict[str, str] = {}
    for convention, choices in by_convention.items():
        one = len(set(choices.values())) == 1
        flat |= {convention if one else f"{convention} ({c})": choice for c, choice in choices.items()}
    return flat


def _result(run: Run, relations: Relations, planned: Planned) -> dict[str, Any]:
    judged = run.outcomes[planned.id]
    deviation = relations.deviations.get(planned.id)
    requirement = judged.requirement
    return {
        "implementation": planned.implementation.name,
        "component": planned.entry.component,
        "lens": planned.entry.lens,
        "requirement": requirement.id,
        "strength": requirement.strength,
        "quality": requirement.quality or None,
        "counts": run.counts(planned),
        "settled": run.settled(planned),
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
        "follows_from": relations.follows_from.get(planned.id, []),
        "deviation": {"reason": deviation.reason, "link": deviation.link} if deviation else None,
        "cases": [_case(case) for case in judged.cases],
        "explored": _case(judged.explored) if judged.explored else None,
        "diagnosis": _diagnosis(run, planned),
        "advice": _advice(run, relations, planned),
        **_pictures(run, planned),
        "seconds": round(judged.seconds, 6),
    }


def _case(case: CaseResult) -> dict[str, Any]:
    details = case.failure.details if case.failure else {}
    return {
        "name": case.name, "described": case.described, "outcome": case.outcome, "message": case.message,
        "error": _finite(case.error), "bound": _finite(case.bound),
        "source": details.get("source"), "off": _finite(details.get("off")), **_by_dtype(case),
    }  # fmt: skip


def _by_dtype(case: CaseResult) -> dict[str, Any]:
    """Return what came out in each dtype, where it is not that of the case alone."""
    if set(case.by_dtype) <= {case.described.rpartition(" ")[2]}:
        return {}
    found = case.by_dtype.items()
    return {"by_dtype": {dtype: {"outcome": x.outcome, "error": _finite(x.error), "bound": _finite(x.bound)}
                         for dtype, x in found}}  # fmt: skip


def _finite(x: Any) -> float | None:
    return float(x) if isinstance(x, int | float) and math.isfinite(x) else None


def _diagnosis(run: Run, planned: Planned) -> list[dict[str, Any]]:
    diagnosis = run.diagnoses.get(planned.id)
    if diagnosis is None:
        return []
    return [_mistake(planned, mistake, diagnosis.cases) for mistake in diagnosis.mistakes]


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


def _advice(run: Run, relations: Relations, planned: Planned) -> dict[str, Any] | None:
    """Return what to look at for a failure at the root that no mutant reproduces; else None.

    This is the argument that causes it, else the usual cause and the region.
    """
    if not run.explained or not relations.unexplained(planned) or planned.id in run.diagnoses:
        return None
    around = region(planned.implementation, planned.entry.component)
    if words := broken_argument(run.outcomes[planned.id]):
        line = line_in(words, planned.implementation.source)
        hint = mended(words) or usual_cause(planned.entry.requirement)
        return {"story": without_line(words), "hint": hint, "where": line or around}
    return {"hint": usual_cause(planned.entry.requirement), "where": around}


def _pictures(run: Run, planned: Planned) -> dict[str, Any]:
    drawn = run.pictures.get(planned.id)
    return {"example": drawn and drawn.example, "leaks": drawn and drawn.leaks}
