"""All that is made of the grades of a batch, written beside its records."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnconf.reports import record as records_
from attnconf.reports.grades import class_junit, class_table, gradescope, prairielearn, student, summary, told
from attnconf.reports.grades.shown import shown

if TYPE_CHECKING:
    from attnconf.conformance.grading.rubric import Rubric
    from attnconf.conformance.grading.scoring import Grade

Record = Mapping[str, Any]
FOLDERS = ("students", "gradescope", "prairielearn")
_KEY = re.compile(r"(?!\.)[A-Za-z0-9._-]+")


def write_all(
    out: Path,
    batch: Mapping[str, Any],
    rubric: "Rubric",
    grades: Sequence["Grade"],
    records: Sequence[Record],
    keys: Sequence[str],
) -> list[Path]:
    """Write every form, each file atomically; return their paths.

    ``keys``: the names of the records' files, in the order of the grades. Raises ValueError for one that is no safe
    name or is there twice, OSError where the folder cannot be written.
    """
    times = Counter(key.lower() for key in keys)  # some file systems know no capitals
    wrong = [key for key in keys if not _KEY.fullmatch(key) or times[key.lower()] > 1]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no name for a file of its own")
    for folder in FOLDERS:
        (out / folder).mkdir(parents=True, exist_ok=True)
    of = summary.Class(batch, rubric, grades, records, keys)
    written = []
    for path, text in chain(_of_each(of), _of_all(of)):
        records_.write_text(out / path, text)
        written.append(out / path)
    return written


def _of_each(of: summary.Class) -> Iterator[tuple[str, str]]:
    for grade, record, key in zip(of.grades, of.records, of.keys, strict=True):
        page, outputs = shown(of.rubric, grade, record), told.texts(of.rubric, grade, record)
        yield f"students/{key}.html", student.html(page, of.batch["suite"])
        yield f"students/{key}.md", student.markdown(page)
        yield f"gradescope/{key}.json", as_json(gradescope.results(of.batch, of.rubric, grade, record, outputs))
        yield f"prairielearn/{key}.json", as_json(prairielearn.results(grade, outputs))


def _of_all(of: summary.Class) -> Iterator[tuple[str, str]]:
    yield "grades.csv", class_table.grades_csv(of.rubric, of.grades, of.keys)
    yield "nbgrader.csv", class_table.nbgrader_csv(of.rubric, of.grades)
    yield "moodle.csv", class_table.moodle_csv(of.grades)
    yield "junit.xml", class_junit.suites(of.rubric, of.grades, of.records)
    yield "summary.md", summary.markdown(of)
    yield "summary.html", summary.html(of)


def as_json(content: Mapping[str, Any]) -> str:
    """Return JSON, in ASCII. Raises ValueError for NaN and infinity, which JSON has not."""
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
