"""Results as JUnit XML, which every CI reads: a test case for each requirement on each component.

What fails and does not count for the verdict (a recommendation, a known deviation) is skipped with its reason, as
JUnit has no word for it; a run that was cut short, and what could not be judged at all, is an error.
"""

from typing import Any
from xml.etree import ElementTree as Tree

from attnconf.reports import failures
from attnconf.reports.comparison.evidence import line
from attnconf.reports.comparison.matrix import OF_LETTER, letter_of
from attnconf.reports.comparison.visible import visible
from attnconf.reports.merging import Judged, Named, judged

ELEMENTS = {"f": "failure", "o": "failure", "e": "error"}  # by letter; the others are skipped, but for what passes


def suites(records: Named) -> str:
    """Return the document."""
    top = Tree.Element("testsuites", name="attnconf")
    for i in judged(records):
        _suite(top, i)
    Tree.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Tree.tostring(top, encoding="unicode") + "\n"


def _suite(top: Tree.Element, i: Judged) -> None:
    suite = Tree.SubElement(top, "testsuite", name=visible(i.label))
    blocks = {id(r): failures.block(i.record, same) for same in failures.causes(i.record) for r in same}
    for r in i.results:
        case = _case(suite, i, r["component"], f"{r['requirement']} ({r['lens']})", r["seconds"])
        _outcome(case, r, blocks.get(id(r), []))
    for v in i.verdicts:
        if v["verdict"] in ("not-gradable", "unrecognised"):
            _told(_case(suite, i, v["component"] or "all", "can be judged"), "error", v["reason"], v["reason"])
    if not i.record["complete"]:
        words = f"the run was cut short: {len(i.results)} results of this implementation"
        _told(_case(suite, i, "all", "the run is complete"), "error", words, words)
    for name, element in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(1 for _ in suite.iter(element))))


def _case(suite: Tree.Element, i: Judged, component: str, name: str, seconds: float = 0.0) -> Tree.Element:
    place = f"{i.label}.{component}"
    return Tree.SubElement(suite, "testcase", classname=visible(place), name=name, time=f"{seconds:.4f}")


def _outcome(case: Tree.Element, r: dict[str, Any], block: list[str]) -> None:
    letter = letter_of(r)
    if letter == "p":
        return
    words = line(r)
    if letter in "kwd":
        words = f"{OF_LETTER[letter].word}: {(r['deviation'] or {}).get('reason') or words}"
    body = "\n".join(block) or f"follows from {', '.join(r['follows_from'])}" if r["outcome"] == "fail" else words
    _told(case, ELEMENTS.get(letter, "skipped"), words, body)


def _told(case: Tree.Element, element: str, message: str, body: str) -> None:
    told = Tree.SubElement(case, element, message=visible(message).replace("\n", " "))
    told.text = visible(body)
