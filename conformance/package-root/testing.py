"""``conformance``: the suite as a test among one's own, an item for each section of the specification.

from attnconf.testing import conformance

TestAttention = conformance(MyAttention, expected={"MASK-NAN-1": "0·NaN is NaN, see issue 12"})
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

import attnconf
from attnconf.reports import failures, tables, unrecognised
from attnconf.spec import registry

if TYPE_CHECKING:
    from attnconf.api import Report

Result = dict[str, Any]
FINE = ("conformant", "incomplete")  # verdicts under which nothing is wrong
WHOLE = "verdict"  # the item on what is wrong with the whole, whatever the sections say


def conformance(target: Any, *, expected: Mapping[str, str] | None = None, **options: Any) -> type:
    """Return a class of tests to be bound to a name that pytest collects, as ``TestAttention``.

    ``target`` and ``options`` are those of ``attnconf.check``; the target is judged when the tests are collected.
    ``expected``: requirements that are known to fail, each with the reason. What follows from one alone is expected,
    too; one that holds after all fails, and is to be taken off.
    Raises SpecError for an expected requirement that there is not.
    """
    for name in expected or {}:
        registry.get(name)
    judged = _Judged(target, dict(expected or {}), options)

    class Conformance:
        """A test for each section of the specification that applies."""

        def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
            metafunc.parametrize("section", judged.sections)

        def test_section(self, section: str) -> None:
            judged.test(section)

    return Conformance


class _Judged:
    """A target with its report, which is made once."""

    def __init__(self, target: Any, expected: dict[str, str], options: dict[str, Any]):
        self.target, self.expected, self.options = target, expected, options

    @cached_property
    def report(self) -> "Report":
        return attnconf.check(self.target, **self.options)

    @cached_property
    def by_section(self) -> dict[str, list[Result]]:
        found: dict[str, list[Result]] = {}
        for r in self.report.record["results"]:
            if r["outcome"] != "not-applicable":
                found.setdefault(f"{tables.chapter(r)}: {r.get('topic') or 'all'}", []).append(r)
        return found

    @property
    def sections(self) -> list[str]:
        return [*self.by_section, WHOLE]

    def test(self, section: str) -> None:
        """End as pytest says: pass, fail with blocks of failures, xfail with reasons, or skip what is not there."""
        if section == WHOLE:
            self._test_whole()
            return
        results = self.by_section[section]
        failing = [r for r in results if r["outcome"] in ("fail", "error")]
        counting = [r for r in failing if r["counts"] or r["outcome"] == "error"]
        unexpected = [r for r in counting if not self._is_expected(r)]
        if stale := [r for r in results if r["outcome"] == "pass" and self._is_stale(r["requirement"])]:
            pytest.fail("\n".join(self._stale_line(r["requirement"]) for r in stale), pytrace=False)
        if unexpected:
            pytest.fail("\n\n".join(self._texts(unexpected)), pytrace=False)
        if reasons := [self._reason(r) for r in failing if self._is_expected(r)]:
            pytest.xfail("; ".join(dict.fromkeys(reasons)))
        if not any(r["outcome"] in ("pass", "fail") for r in results):
            pytest.skip("; ".join(dict.fromkeys(r["message"] or r["outcome"] for r in results)))

    def _test_whole(self) -> None:
        record = self.report.record
        wrong = [v for v in record["verdicts"] if v["verdict"] not in FINE and not self._is_explained(v)]
        blocks = ["\n".join(lines) for lines in unrecognised.blocks(record)]
        lines = [f"{v['implementation']}: {v['verdict'].upper()}; {v['reason']}" for v in wrong]
        if wrong:
            pytest.fail("\n\n".join([*lines, *blocks]), pytrace=False)

    def _is_explained(self, verdict: Result) -> bool:
        """Return whether failures that the sections tell of, expected or not, are all that is wrong."""
        mine = [r for r in self.report.record["results"] if r["component"] == verdict["component"]]
        return verdict["verdict"] == "nonconformant" and any(r["outcome"] == "fail" and r["counts"] for r in mine)

    def _is_expected(self, r: Result) -> bool:
        """Return whether a failure is in the list, or follows from such alone."""
        roots = set(r["follows_from"])
        return r["requirement"] in self.expected or bool(roots and roots <= self.expected.keys())

    def _reason(self, r: Result) -> str:
        causes = [r["requirement"]] if r["requirement"] in self.expected else r["follows_from"]
        return "; ".join(f"{name}: {self.expected[name]}" for name in causes)

    def _is_stale(self, name: str) -> bool:
        same = [r for r in self.report.record["results"] if r["requirement"] == name]
        return name in self.expected and all(r["outcome"] != "fail" for r in same)

    def _stale_line(self, name: str) -> str:
        return f"{name} is expected to fail ({self.expected[name]}), and holds: take it off the list"

    def _texts(self, unexpected: Sequence[Result]) -> list[str]:
        """Return the blocks of failures at the root, and a line for each of the others."""
        record, told = self.report.record, []
        for same in failures.causes(record):
            if any(r is other for r in same for other in unexpected):
                told.append("\n".join(failures.block(record, same)))
        for r in unexpected:
            if r["outcome"] == "error":
                told.append(f"{r['requirement']}: {r['message']}")
            elif r["follows_from"]:
                told.append(f"{r['requirement']} fails, which follows from {', '.join(r['follows_from'])}")
        return told
