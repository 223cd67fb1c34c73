"""Judge one requirement on one subject: run its check on all its cases, and return the outcome."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, GradientsNotAsked, Observed, Unsupported
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.requirement import Checked
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.worker import device as devices
from attnconf.spec import courses, registry

# A check's outcome is that of its worst case.
_WORST_FIRST = ("error", "fail", "unsupported", "pass", "not-applicable")
LOST = "CUDA's context ended when an assertion failed in a kernel: judge it with --isolate, or on the CPU"


@dataclass
class CaseResult:
    name: str
    outcome: str
    described: str = ""
    error: float | None = None
    bound: float | None = None
    failure: Failure | None = None
    message: str | None = None
    by_dtype: dict[str, "InDtype"] = field(default_factory=dict)  # of what was computed, in the order of the check


@dataclass(frozen=True)
class InDtype:
    """What came out in one dtype: the measure that uses the largest share of its bound."""

    outcome: str
    error: float | None
    bound: float | None

    @property
    def share(self) -> float:
        return self.error / self.bound if self.error is not None and self.bound else 0.0


@dataclass
class Judged:
    """The outcome of one planned check, with its cases and the calls made, from which failures are explained."""

    requirement: registry.Requirement
    check: str
    outcome: str
    message: str | None = None
    reason: str | None = None
    cases: list[CaseResult] = field(default_factory=list)
    convention: dict[str, str] = field(default_factory=dict)
    log: list[tuple[Request, Reply | Failure]] = field(default_factory=list)
    seconds: float = 0.0
    explored: CaseResult | None = None  # the smallest failing case that --thorough found

    @property
    def failing(self) -> CaseResult | None:
        """The first case that failed."""
        return next((case for case in self.cases if case.outcome == "fail"), None)

    @property
    def failure(self) -> Failure | None:
        """What the first case that failed raised."""
        return self.failing.failure if self.failing else None


def judge_requirement(
    subject: Subject, checked: Checked, seed: int = 0, device: str = "cpu", select: Callable[[str], bool] | None = None
) -> Judged:
    """Return the outcome of one requirement on one subject. ``select`` keeps cases by name.

    Raises nothing: a fault of the suite itself becomes the outcome "error".
    """
    start = time.perf_counter()
    subject.log = []
    judged = Judged(checked.requirement, checked.check.__name__, "pass")
    lacking = sorted(need for need in checked.requirement.needs if not subject.offers(need))
    if lacking:
        judged.outcome = "not-applicable"
        judged.message = f"the lens {subject.lens!r} on {subject.component} offers no {', '.join(lacking)}"
        return judged
    if subject.choice("parameters") == "own" and not checked.any_weights:
        judged.outcome = "not-applicable"
        judged.message = "it needs weights that are known, and the implementation keeps its own"
        return judged
    for case in checked.cases(subject, seed, device):
        if select is None or select(case.name):
            judged.cases.append(run_case(subject, checked, case, judged.convention))
    if subject.implementation.binding:  # no argument for a mask, say: nobody asked the author to have one
        _not_applicable(judged.cases)
    outcomes = {case.outcome for case in judged.cases}
    judged.outcome = next((o for o in _WORST_FIRST if o in outcomes), "error")
    worst = next((case for case in judged.cases if case.outcome == judged.outcome), None)
    judged.message = worst.message if worst else "no case was run"
    judged.reason = worst.failure.reason if worst and worst.failure else None
    for _, reply in subject.log:
        if isinstance(reply, Failure):
            reply.alone()  # a check may have gone on after it
    judged.log = [one for one in subject.log if not one[0].counted]  # there the numbers say nothing
    judged.seconds = time.perf_counter() - start
    return judged


def _not_applicable(cases: list[CaseResult]) -> None:
    for case in cases:
        if case.outcome == "unsupported":
            case.outcome = "not-applicable"


def run_case(subject: Subject, checked: Checked, case: Case, convention: dict[str, str] | None = None) -> CaseResult:
    """Return the outcome of one case; observed conventions are added to ``convention``."""
    result = CaseResult(case.name, "pass", str(case))
    if case.device != "cpu" and devices.is_lost() and subject.implementation.apart is None:
        result.outcome, result.message = "unsupported", LOST
        return result
    evidence = 0
    try:
        for item in checked.check(subject, case):
            evidence += 1
            if isinstance(item, Observed):
                (convention if convention is not None else {})[item.convention] = item.choice
                continue
            if result.error is None or item.error >= result.error:
                result.error, result.bound = item.error, item.bound
            _note(result, subject, InDtype("pass", item.error, item.bound))
        if not evidence:
            raise AssertionError("the check yielded no evidence")
    except Failure as failure:
        _record(result, failure)
        _note(result, subject, InDtype("fail", result.error, result.bound))
    except GradientsNotAsked:
        result.outcome = result.outcome if evidence else "not-applicable"
        result.message = None if evidence else "no gradients are asked for"
    except Unsupported as words:
        result.outcome, result.message = "unsupported", str(words)
        words.with_traceback(None)  # a frame in it may hold it
    except Exception as fault:
        result.outcome, result.message = "error", f"fault of the suite: {type(fault).__name__}: {fault}"
        if registry.of_course(checked.requirement.chapter):  # it costs that check alone
            result.outcome, result.message = "unsupported", _of_a_course(fault)
        if devices.is_lost():
            result.outcome, result.message = "unsupported", LOST
    return result


def _of_a_course(fault: Exception) -> str:
    """Return words on an exception that a course's check raises, with the last line of its own that it came through."""
    course = courses.used()
    frames = traceback.extract_tb(fault.__traceback__) if course else []
    own = [f for f in frames if course and Path(f.filename).is_relative_to(course.folder)]
    at = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    return f"the course's check raises {type(fault).__name__}: {fault}{at}"


def _note(result: CaseResult, subject: Subject, found: InDtype) -> None:
    """Note what came out under the dtype of the last call, unless something worse did before."""
    dtype = subject.log[-1][0].dtype if subject.log else None
    if dtype is None:
        return
    name = str(dtype).removeprefix("torch.")
    known = result.by_dtype.get(name)
    if known is None or found.outcome == "fail" or found.share >= known.share:
        result.by_dtype[name] = found


def _record(result: CaseResult, failure: Failure) -> None:
    details: dict[str, Any] = failure.details
    result.outcome, result.failure = "fail", failure.alone()
    result.message = failure.message + (f" ({failure.at})" if failure.at else "")
    result.error, result.bound = details.get("error"), details.get("bound")
