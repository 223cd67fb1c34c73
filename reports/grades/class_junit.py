"""The grades of a class as JUnit XML, for a CI: a suite for each submission, a case for each item, none skipped."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Tree

from attnconf.reports.grades import told
from attnconf.reports.grades.class_table import unique
from attnconf.reports.grades.inert import line, plain, points
from attnconf.reports.grades.shown import earned_all

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade, Scored

Record = Mapping[str, Any]
SUMS = (("tests", "testcase"), ("failures", "failure"), ("errors", "error"))  # attributes, and what they count


def suites(rubric: "Rubric", grades: Sequence["Grade"], records: Sequence[Record]) -> str:
    """Return the document. It is for instructors: hidden items are in it."""
    top = Tree.Element("testsuites", name=line(rubric.title))
    names = unique([line(grade.submission) for grade in grades])
    for name, grade, record in zip(names, grades, records, strict=True):
        _suite(top, name, told.in_full(grade), record, rubric)
    _count(top, SUMS)
    Tree.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Tree.tostring(top, encoding="unicode") + "\n"


def _suite(top: Tree.Element, name: str, grade: "Grade", record: Record, rubric: "Rubric") -> None:
    texts = told.texts(rubric, grade, record)
    seconds = f"{float(record.get('seconds') or 0):.3f}"
    suite = Tree.SubElement(top, "testsuite", name=name, time=seconds)
    for item in grade.items:
        case = Tree.SubElement(suite, "testcase", classname=f"{name}.{item.component}", name=line(item.name), time="0")
        if grade.status != "judged":
            _told(case, "error", grade.status, grade.message)
        elif not earned_all(item):
            _told(case, "failure", _earned(item), texts[item.name])
    if grade.status != "judged" and not grade.items:
        case = Tree.SubElement(suite, "testcase", classname=name, name="can be judged", time="0")
        _told(case, "error", grade.status, grade.message)
    _count(suite, (*SUMS, ("skipped", "skipped")))


def _earned(item: "Scored") -> str:
    return f"{points(item.earned)} of {points(item.points)} points: {item.reason or item.status}"


def _told(case: Tree.Element, element: str, message: str, body: str) -> None:
    Tree.SubElement(case, element, message=line(message), type=element).text = plain(body)


def _count(of: Tree.Element, sums: Iterable[tuple[str, str]]) -> None:
    for name, element in sums:
        of.set(name, str(sum(1 for _ in of.iter(element))))
