"""What a submission's results say of one component: which of them count, and what became of a requirement."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from attnconf.conformance.grading.rubric import Wanted

Result = dict[str, Any]
NOT_JUDGED: Result = {"outcome": "not-judged", "settled": True}
# Of an outcome that is no pass, the status of the requirement; of a failure that is its reason.
_STATUS = {
    "unsupported": "unsupported", "not-applicable": "not-applicable", "not-run": "not-judged",
    "not-judged": "not-judged", "error": "error",
}  # fmt: skip
# Where several results differ the first of these is told; all of them earn nothing.
_TOLD_FIRST = ("fail", "error", "unsupported", "not-run", "not-judged", "not-applicable", "pass")


@dataclass(frozen=True)
class Found:
    """What results say of a component.

    Where several implementations offer it all of them count, and the worst is graded: nobody gains by offering many. A
    rubric that names the class has that one alone.
    """

    implementations: tuple[str, ...] = ()
    verdicts: tuple[Result, ...] = ()  # on the component, of these
    results: dict[tuple[str, str], list[Result]] = field(default_factory=dict)  # by (requirement, implementation)

    def of(self, requirement: str) -> list[Result]:
        """Return all results that a requirement has; NOT_JUDGED for an implementation that has none."""
        own = [self.results.get((requirement, name), [NOT_JUDGED]) for name in self.implementations]
        return [result for results in own for result in results] or [NOT_JUDGED]

    def said(self, *verdicts: str) -> list[Result]:
        """Return those of the verdicts that say one of these."""
        return [verdict for verdict in self.verdicts if verdict["verdict"] in verdicts]

    @property
    def has_verdicts(self) -> bool:
        """Whether each implementation has come to a verdict."""
        return {verdict["implementation"] for verdict in self.verdicts} == set(self.implementations)


def found(wanted: Wanted, record: Result) -> Found:
    """Return what a results record says of a component."""
    offering = [i["name"] for i in record["implementations"] if wanted.component in i["components"]]
    judged = [r["implementation"] for r in record["results"] if r["component"] == wanted.component]
    names = [name for name in dict.fromkeys([*offering, *judged]) if _is_wanted(name, wanted)]
    results: dict[tuple[str, str], list[Result]] = {}
    for r in record["results"]:
        if r["component"] == wanted.component:
            results.setdefault((r["requirement"], r["implementation"]), []).append(r)
    of_it = (v for v in record["verdicts"] if v["component"] == wanted.component)
    return Found(tuple(names), tuple(v for v in of_it if v["implementation"] in names), results)


def _is_wanted(name: str, wanted: Wanted) -> bool:
    """Return whether an implementation is the class that a rubric names: "hw.py:Mine" or "hw.py:Mine@attention"."""
    named = name.removesuffix(f"@{wanted.component}").rpartition(":")[2]
    return wanted.name is None or named == wanted.name


def status_of(results: Sequence[Result]) -> tuple[str, Result]:
    """Return the status that the results of a requirement come to, one of scoring.STATUSES, and the result behind it.

    It has passed where all of them have, and each is settled.
    """
    worst = min(results, key=_rank)
    if worst["outcome"] in ("pass", "fail") and not worst["settled"]:
        return "unrecognised", worst
    if worst["outcome"] == "pass":
        return "passed", worst
    return worst["reason"] if worst["outcome"] == "fail" else _STATUS[worst["outcome"]], worst


def _rank(result: Result) -> tuple[bool, int, bool]:
    return (
        result["outcome"] == "pass" and result["settled"], _TOLD_FIRST.index(result["outcome"]), not result["settled"]
    )  # fmt: skip


def passing(results: Sequence[Result]) -> float:
    """Return the share of a failed requirement's cases that pass: the least of its results; 0 but for failures."""
    if any(r["outcome"] not in ("pass", "fail") or not r["settled"] for r in results):
        return 0.0
    shares = [sum(case["outcome"] == "pass" for case in r["cases"]) / max(len(r["cases"]), 1) for r in results]
    return min(shares, default=0.0)
