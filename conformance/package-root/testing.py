"""``conformance``: the suite as a test among one's own, an item for each section of the specification.

from attnconf.testing import conformance

TestAttention = conformance(MyAttention, expected={"MASK-NAN-1": "0·NaN is NaN, see issue 12"})
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import attnconf
from attnconf.reports import failures, tables, unrecognised
from attnconf.spec import registry

if TYPE_CHECKING:
    from attnconf.api import Report

Result = dict[str, Any]
FINE = ("conformant", "incomplete")  # verdicts under which nothing is wrong
WHOLE = "verdict"  # the item that passes where nothing is wrong with the whole


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

        def test_section(self, section: str, request: pytest.FixtureRequest) -> None:
            judged.test(section, request.node.nodeid)

    return Conformance


class _Judged:
    """A target with its report, which is made once."""

    def __init__(self, target: Any, expected: dict[str, str], options: dict[str, Any]):
        self.target, self.expected, self.options = target, expected, options

    @cached_property
    def report(self) -> "Report":
        from attnconf.api import CheckError  # where torch is imported

        try:
            return attnconf.check(self.target, **self.options)
        except CheckError as error:
            raise pytest.Collector.CollectError(f"conformance: {error}") from None

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

    def test(self, section: str, item: str) -> None:
        """End as pytest says: pass, fail with blocks of failures, xfail with reasons, or skip what is not there.

        ``item``: its id, for pytest to run it again.
        """
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
            pytest.fail("\n\n".join(self._texts(unexpected, item)), pytrace=False)
        if reasons := [self._reason(r) for r in failing if self._is_expected(r)]:
            pytest.xfail("; ".join(dict.fromkeys(reasons)))
        if not any(r["outcome"] in ("pass", "fail") for r in results):
            pytest.skip("; ".join(dict.fromkeys(r["message"] or r["outcome"] for r in results)))

    def _test_whole(self) -> None:
        record = self.report.record
        wrong = [v for v in record["verdicts"] if v["verdict"] not in FINE]
        if any(not self._is_explained(v) for v in wrong):
            blocks = ["\n".join(lines) for lines in unrecognised.blocks(record)]
            lines = [f"{v['implementation']}: {v['verdict'].upper()}; {v['reason']}" for v in wrong]
            pytest.fail("\n\n".join([*lines, *blocks]), pytrace=False)
        if wrong:
            pytest.xfail("; ".join(dict.fromkeys(self._reason(r) for v in wrong for r in self._violated(v))))

    def _is_explained(self, verdict: Result) -> bool:
        """Return whether failures that are expected are all that is wrong."""
        violated = self._violated(verdict)
        alone = verdict["verdict"] == "nonconformant" and violated and not verdict["broken"]
        return bool(alone) and all(map(self._is_expected, violated))

    def _violated(self, verdict: Result) -> list[Result]:
        mine = [r for r in self.report.record["results"] if r["component"] == verdict["component"]]
        return [r for r in mine if r["outcome"] == "fail" and r["counts"]]

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

    def _texts(self, unexpected: Sequence[Result], item: str) -> list[str]:
        """Return the blocks of failures at the root, and a line for each of the others."""
        record, told = self.report.record, []
        for same in failures.causes(record):
            if any(r is other for r in same for other in unexpected):
                lines = failures.block(record, same)
                told.append("\n".join(self._rerun(line, same[0]["implementation"], item) for line in lines))
        for r in unexpected:
            if r["outcome"] == "error":
                told.append(f"{r['requirement']}: {r['message']}")
            elif r["follows_from"]:
                told.append(f"{r['requirement']} fails, which follows from {', '.join(r['follows_from'])}")
        return told

    def _rerun(self, line: str, name: str, item: str) -> str:
        """Return a line of a block; what is to be run again under the name that the command line has for the target."""
        if not line.startswith("  rerun ") or isinstance(self.target, str | Path):
            return line
        place = _place(self.target)
        if place is None:
            return f"  rerun     pytest {shlex.quote(item)}"
        component = self.options.get("component")
        named = shlex.quote(f"{place}@{component}" if component else place)
        return line.replace(f"--impl={name}", f"--impl={named}")


def _place(target: Any) -> str | None:
    """Return FILE, or FILE:Class, of a module or of what stands at the top of one; None of what does not."""
    name = None if isinstance(target, ModuleType) else getattr(target, "__name__", "")
    module = target if name is None else sys.modules.get(getattr(target, "__module__", ""))
    file = Path(getattr(module, "__file__", None) or "-")
    if file.suffix != ".py" or (name is not None and getattr(module, name, None) is not target):
        return None
    file = Path(os.path.relpath(file)) if file.is_relative_to(Path.cwd()) else file
    return str(file) if name is None else f"{file}:{name}"
