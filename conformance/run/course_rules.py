"""The rules of the suite, for the checks that a course brings: none without a mistake that it was seen to catch.

The reference passes each; each fails on a mutant of the course that names it, and on no other; and what computes
nothing fails it, but where ``VACUOUS`` beside the mutants says why it cannot.
"""

import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.chapters import contents
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant, apply, reaches
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.engine.vacuous import EVERYTHING, Vacuous
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.nothing import FILLS, nothing
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.spec import courses, profiles, registry
from attnconf.spec.nearest import hint
from attnconf.spec.registry import SpecError

WITHOUT = ("biases", "output-projection", "network-biases", "norm-biases")  # choices by which a weight is not there
Outcomes = Mapping[tuple[str, str], Judged]  # by component and requirement


def demand(seed: int = 0) -> None:
    """Raise SpecError, with one line for each thing that is wrong, where the course that is used breaks the rules."""
    course = courses.used()
    if course is None:
        return
    print(f"course {course.shown}: judged by the suite's rules first", file=sys.stderr)
    try:
        checks, mutants = contents.all_checks(), contents.all_mutants()
    except SpecError:
        raise
    except Exception as error:
        raise SpecError(f"{_place(error, course.folder)}: {type(error).__name__}: {error}") from None
    if strange := [name for name in mutants if name.partition("-")[0] not in registry.CHAPTERS]:
        raise SpecError(f"{course.folder}: a mutant is called {strange[0]!r}: want {course.prefix}-, and words")
    own = [r.id for r in registry.requirements().values() if r.chapter == course.chapter]
    if lacking := [name for name in own if name not in checks]:
        raise SpecError(f"{course.folder}: {lacking[0]} has no check: want @requirement({lacking[0]!r}) in checks.py")
    wrong = list(_wrong(own, [m for m in mutants.values() if m.chapter == course.chapter], seed))
    if wrong:
        raise SpecError("\n".join(f"{course.folder}: {line}" for line in wrong))


def _place(error: Exception, folder: Path) -> str:
    """Return the last line of the course's own files that an exception came through."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(folder)


def _wrong(own: Sequence[str], mutants: Sequence[Mutant], seed: int) -> Iterator[str]:
    """Yield a line for each rule that is broken."""
    for (component, name), judged in _judged(apply([]), own, seed).items():
        if name in own and judged.outcome != "pass":
            told = judged.message or judged.outcome
            yield f"{name}: the reference does not pass it on {component}: {told}"
    yield from _of_choices(own, seed)
    for name in own:
        if not any(name in mutant.breaks for mutant in mutants):
            yield f"{name}: no mutant breaks it: nobody knows whether its check can fail"
    for mutant in mutants:
        yield from _of_mutant(mutant, own, seed)
    yield from _excused()
    for fill in FILLS:
        yield from _of_nothing(fill, own, seed)


def _of_choices(own: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the checks that raise where the reference makes another choice: some layers have no biases."""
    for component in _asked():
        for convention in [name for name in WITHOUT if name in COMPONENTS[component].conventions]:
            for choice in CONVENTIONS[convention][1:]:
                reference = in_conventions(apply([]), {convention: choice})
                part = replace(reference, components={component: reference.components[component]})
                for (_, name), judged in _judged(part, own, seed).items():
                    if name in own and judged.outcome == "unsupported":
                        yield f"{name}: {judged.message}, on {component} where {convention} is {choice}"


def _of_mutant(mutant: Mutant, own: Sequence[str], seed: int) -> Iterator[str]:
    """Yield what a mutant breaks of the course, and does not name, or the other way round."""
    roots, broken = set[str](), set[str]()
    try:
        mutated = apply([mutant])
    except ValueError as error:
        yield str(error)
        return
    for component in _asked():
        if reaches(component, mutant) and component not in mutant.silent_on:
            part = replace(mutated, components={component: mutated.components[component]})
            failed = {name for (_, name), judged in _judged(part, own, seed).items() if judged.outcome == "fail"}
            broken |= failed
            roots |= {name for name in failed & set(own) if not registry.ancestors(name) & failed}
    named = mutant.breaks & set(own)
    if others := sorted(roots - named):
        yield f"{mutant.id} makes {', '.join(others)} fail, which its breaks does not name"
    for name in sorted(named - roots):
        above = ", ".join(sorted(registry.ancestors(name) & broken)) if name in broken else ""
        what = f"fails in consequence of {above}" if above else "passes"
        yield f"{mutant.id} says that it breaks {name}, which {what}"


def _of_nothing(fill: str, own: Sequence[str], seed: int) -> Iterator[str]:
    for (component, name), judged in _judged(nothing(fill, _asked()), own, seed).items():
        excused = any(_excuses(entry, fill, component, name) for entry in contents.all_vacuous())
        if name in own and judged.outcome == "pass" and not excused:
            yield f"{name}: what returns {_WORDS[fill]} passes it on {component}: its check shows nothing"


_WORDS = {"zeros": "zeros", "ones": "ones", "constant": "0.7 everywhere", "echo": "its input", "mean": "mean values"}


def _excused() -> Iterator[str]:
    """Yield a line for each word among VACUOUS that names nothing that computes nothing."""
    for entry in contents.all_vacuous():
        for word in entry.controls:
            if word not in EVERYTHING:
                yield f"VACUOUS: there is no {word!r}{hint(word, EVERYTHING)}: there are {', '.join(EVERYTHING)}"


def _excuses(entry: Vacuous, fill: str, component: str, name: str) -> bool:
    named = fill in entry.controls and name in entry.requirements.split()
    return named and component in (entry.components or (component,))


def _asked() -> tuple[str, ...]:
    """Return the components of which a course asks something."""
    return tuple(dict.fromkeys(component for component, _, _ in profiles.added()))


def _judged(implementation: Implementation, own: Sequence[str], seed: int) -> Outcomes:
    """Return what becomes of a course's requirements, and of those that they presuppose, on an implementation."""
    wanted = set(own).union(*(registry.ancestors(name) for name in own))
    parts = {c: build for c, build in implementation.components.items() if c in _asked()}
    plan = make_plan([replace(implementation, components=parts)], Settings(seed=seed))
    run = judge_all(only(plan, lambda planned: planned.entry.requirement in wanted))
    return {(p.entry.component, p.entry.requirement): run.outcomes[p.id] for p in run.plan.planned}
