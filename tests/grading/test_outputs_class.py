"""The table and the page of a class, and all files together."""

import csv
import dataclasses
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hostile_texts import quick, texts
from hypothesis import given
from made_grades import RIGHT, RUBRIC, SEED, WRONG, WRONG_RECORD, batch, grade, hostile, judged, unjudged, with_item
from made_records import MISTAKE, result

from attnconf.reports.grades import class_table, summary
from attnconf.reports.grades.alike import alike
from attnconf.reports.grades.writing import write_all

TIMEOUT, TIMEOUT_RECORD = unjudged("carl", "timeout", "no reply within 120 s")
GRADES, RECORDS = [RIGHT, WRONG, TIMEOUT], [judged("ada"), WRONG_RECORD, TIMEOUT_RECORD]
KEYS = ["ada", "bob", "carl"]
BOTH = pytest.mark.parametrize("form", [summary.html, summary.markdown])


def of_class(grades=GRADES, records=RECORDS, keys=KEYS, rubric=RUBRIC, **changes):
    return summary.Class(batch(**changes), rubric, grades, records, keys)


def words_of(form, *given_, **changes):
    """Return the words of a page, without what marks it up."""
    page = form(of_class(*given_, **changes))
    if form is summary.markdown:
        return " ".join(page.replace("\\", "").replace("|", " ").split())
    kept = []
    parser = HTMLParser()
    parser.handle_data = kept.append
    parser.feed(re.sub("<style>.*?</style>", "", page, flags=re.DOTALL))
    return " ".join(" ".join(kept).split())


def rows(grades, keys=None, rubric=RUBRIC):
    text = class_table.grades_csv(rubric, grades, keys or [str(n) for n in range(len(grades))])
    assert text.startswith("\ufeff")
    return [*csv.reader(io.StringIO(text[1:]), quoting=csv.QUOTE_NONNUMERIC, strict=True)]


def test_the_table_has_a_row_for_each_submission():
    assert rows(GRADES, KEYS) == [
        ["name", "file", "score", "points", "status", "Scale", "Masks", "All of it", "look at", "page"],
        ["ada", "ada/homework.py", 9, 9, "judged", 2, 3, 4, "", "ada"],
        ["bob", "bob/homework.py", 2, 9, "judged", 0, 0, 2, "it changed its argument in place", "bob"],
        ["carl", "carl/homework.py", 0, 9, "timeout", 0, 0, 0, "", "carl"],
    ]


def test_the_names_of_columns_differ():
    rubric = with_item(RUBRIC, "Scale", name="name")
    assert rows([], rubric=rubric)[0][5] == "name (2)"


@given(texts)
@quick
def test_no_cell_of_the_table_is_a_formula(text):
    (_, row) = rows([hostile(text)[0]])
    assert len(row) == 10
    assert not any(isinstance(x, str) and x.startswith(("=", "+", "-", "@", "\t", "\r")) for x in row)
    assert row[2:4] == [4, 9]


@BOTH
def test_the_page_of_a_class_says_what_is_frequent_and_what_to_look_at(form):
    words = words_of(form)
    for wanted in (
        "3 (2 judged, 1 timeout)", "mean", "3.67", "median", "8.1 to 9", "ATT-unscaled", "the scores are not divided",
        "ATT-SCALE-1 on attention", "it changed its argument in place", "timeout: no reply within 120 s",
        "noted: torch.nn.MultiheadAttention, homework.py:3", "Scale 2 33 % 1 at once",
    ):  # fmt: skip
        assert wanted in words
    assert str(SEED) not in words
    assert "ATT-ORACLE-1" not in words  # a consequence


@BOTH
def test_a_class_of_nobody_has_a_page(form):
    assert "0" in words_of(form, [], [], [])


@BOTH
def test_a_pages_links_lead_to_students(form):
    page = form(of_class())
    assert ("students/bob.html" if form is summary.html else "(students/bob.md)") in page


def copied(name, *errors, **changes):
    """Return the record of a submission whose cases fail with these errors, which no known mistake explains."""
    results = []
    for n, error in enumerate(errors):
        failing = result("homework.py", f"ATT-A-{n}", "fail", **changes)
        failing["cases"][0]["error"] = error
        results.append(failing)
    return judged(name, results)


def pair(left, right, made=WRONG):
    return alike([made, dataclasses.replace(made, submission="other")], [left, right])


def test_the_same_wrong_outputs_are_a_hint():
    (group,) = pair(copied("a", 0.1, 0.2, 0.3), copied("b", 0.1, 0.2, 0.3))
    assert (group.numbers, group.why) == ((0, 1), "the same figures on 3 failing cases")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (copied("a", 0.1, 0.2, 0.3), copied("b", 0.1, 0.2, 0.30000001)),
        (copied("a", 0.1, 0.2), copied("b", 0.1, 0.2)),
        (copied("a", 1.0, 1.0, 1.0), copied("b", 1.0, 1.0, 1.0)),
        (copied("a", 0.1, 0.2, 0.3), copied("b", 0.1, 0.2, 0.3, None)),
        (WRONG_RECORD, WRONG_RECORD | {"digest": "other"}),
        (TIMEOUT_RECORD, TIMEOUT_RECORD | {"digest": "other"}),
    ],
    ids=["other digits", "too few", "one figure", "another failure", "a known mistake", "not judged"],
)
def test_what_is_no_hint(left, right):
    assert pair(left, right) == []


def test_a_known_mistake_explains_what_follows_from_it():
    diagnosed = result("homework.py", "ATT-SCALE-1", "fail", diagnosis=[MISTAKE])
    both = [copied(name, 0.1, 0.2, 0.3, follows_from=["ATT-SCALE-1"]) for name in "ab"]
    for one in both:
        one["results"]["results"].append(diagnosed)
    assert pair(*both) == []


def test_the_same_files_are_a_hint_unless_they_are_empty():
    same = [judged(name, digest="d") for name in "ab"]
    assert [group.why for group in pair(*same, made=RIGHT)] == ["the same files"]
    assert pair(*same, made=dataclasses.replace(RIGHT, status="empty")) == []


@BOTH
def test_a_hint_of_copying_is_called_one(form):
    words = words_of(form, [RIGHT, grade("eve", RIGHT.items)], [judged("a", digest="d"), judged("b", digest="d")], "ab")
    assert "Alike (a hint)" in words
    assert "ada, eve the same files" in words
    assert "no proof" in words


@given(texts)
@quick
def test_a_class_holds_whatever_a_submission_says(text):
    made, kept = hostile(text)
    page = summary.html(of_class([made, made], [kept, kept], ["a", "b"]))
    seen = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: seen.extend([tag, *attrs])
    parser.feed(page)
    assert not {"script", "img", "iframe"} & {x for x in seen if isinstance(x, str)}
    assert {value for name, value in (x for x in seen if isinstance(x, tuple)) if name == "href"} == {
        "students/a.html", "students/b.html"
    }  # fmt: skip
    assert "\x1b" not in page
    table = summary.markdown(of_class([made, made], [kept, kept], ["a", "b"])).partition("## All submissions")[2]
    assert len(table.strip().splitlines()) == 4


def test_everything_is_written(tmp_path):
    made, kept = hostile("=1+1\x1b[31m\ud800<b>")
    written = write_all(tmp_path, batch(), RUBRIC, [*GRADES, made], [*RECORDS, kept], [*KEYS, "x-2"])
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {str(path.relative_to(tmp_path)) for path in written} == {
        "grades.csv", "nbgrader.csv", "moodle.csv", "junit.xml", "summary.md", "summary.html",
        *(f"students/{key}.{end}" for key in [*KEYS, "x-2"] for end in ("md", "html")),
        *(f"{folder}/{key}.json" for key in [*KEYS, "x-2"] for folder in ("gradescope", "prairielearn")),
    }  # fmt: skip
    before = {path: path.read_bytes() for path in written}
    write_all(tmp_path, batch(), RUBRIC, [*GRADES, made], [*RECORDS, kept], [*KEYS, "x-2"])
    assert before == {path: path.read_bytes() for path in written}
    assert not any(str(SEED).encode() in content for content in before.values())
    assert json.loads(before[tmp_path / "gradescope/bob.json"])["score"] == 2


@pytest.mark.parametrize("keys", [["../a"], [".hidden"], ["a/b"], [""], ["a\n"], ["a", "A"]])
def test_a_name_that_is_none_for_a_file_is_refused(tmp_path, keys):
    with pytest.raises(ValueError, match="is no name for a file of its own"):
        write_all(tmp_path, batch(), RUBRIC, [RIGHT] * len(keys), [judged("a")] * len(keys), keys)
    assert not list(tmp_path.iterdir())
