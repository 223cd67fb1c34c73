"""The files of platforms, read back by the rules that these publish."""

import csv
import dataclasses
import html
import io
import json
import math
from xml.etree import ElementTree as Tree

import pytest
from hostile_texts import quick, texts
from hypothesis import given
from hypothesis import strategies as st
from made_grades import (
    RIGHT,
    RUBRIC,
    SEED,
    WRONG,
    WRONG_RECORD,
    batch,
    hostile,
    judged,
    regraded,
    unjudged,
    with_item,
)

from attnconf.reports.grades import class_junit, class_table, gradescope, prairielearn, told
from attnconf.reports.grades.writing import as_json

TIMEOUT = unjudged("carl", "timeout", "no reply within 120 s")
STATUSES = ("refused", "empty", "not-gradable", "timeout", "crashed", "out-of-memory", "error")


def strictly(text):
    """Return what JSON holds, which has neither NaN nor a key twice."""

    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=pytest.fail, object_pairs_hook=once)


def of_gradescope(rubric, grade, record, **changes):
    """Return results.json, read back and held to the rules."""
    outputs = told.texts(rubric, grade, record)
    found = strictly(as_json(gradescope.results(batch(**changes), rubric, grade, record, outputs)))
    obey_gradescope(found)
    return found


def obey_gradescope(found):
    assert set(found) <= {
        "score", "output", "output_format", "test_output_format", "test_name_format", "visibility",
        "stdout_visibility", "extra_data", "tests", "leaderboard",
    }  # fmt: skip
    assert type(found["score"]) in (int, float)
    assert found["score"] == round(sum(test["score"] for test in found["tests"]), 5)
    assert found["output_format"] == "text"
    names = [test["name"] for test in found["tests"]]
    assert len(set(names)) == len(names)
    for test in found["tests"]:
        assert set(test) <= {
            "score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags",
            "visibility", "extra_data",
        }  # fmt: skip
        assert 0 <= test["score"] <= test["max_score"]
        assert test["status"] in ("passed", "failed")
        assert test["output_format"] == "text"
        assert test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
        assert len(test["output"]) <= 4000


def test_gradescope_has_a_test_for_each_item():
    found = of_gradescope(RUBRIC, WRONG, WRONG_RECORD)
    assert [(t["name"], t["score"], t["max_score"], t["status"]) for t in found["tests"]] == [
        ("Scale", 0, 2, "failed"), ("Masks", 0, 3, "failed"), ("All of it", 2, 4, "failed"),
    ]  # fmt: skip
    scale, masks, rest = (t["output"] for t in found["tests"])
    assert "the scores are not divided by √E" in scale
    assert "rows: output of query i" in masks
    assert rest == "1 of 2 requirements failed\nATT-SCALE-1 on attention: see Scale"
    assert found["score"] == 2
    assert found["output"].startswith("2 of 9 points. 3 of 3 public checks did not pass.")


@pytest.mark.parametrize("closed", [False, True])
def test_gradescope_keeps_the_seed_of_an_open_batch(closed):
    found = of_gradescope(RUBRIC, WRONG, WRONG_RECORD, closed=closed)
    assert found["extra_data"]["suite"] == "0.1.0"
    assert found["extra_data"]["isolation"] == ["process", "network"]
    assert (str(SEED) in json.dumps(found)) == closed


def test_gradescope_hides_what_the_rubric_hides():
    rubric, made = (f(x, "Scale", visibility="hidden") for f, x in ((with_item, RUBRIC), (regraded, WRONG)))
    found = of_gradescope(rubric, made, WRONG_RECORD)
    assert [t["visibility"] for t in found["tests"]] == ["hidden", "visible", "visible"]
    seen = json.dumps([found["output"], *(t["output"] for t in found["tests"][1:])])
    assert "divided" not in seen
    assert "ATT-SCALE-1" not in seen
    assert "2 of 7 visible points" in found["output"]
    assert "divided" in found["tests"][0]["output"]


def test_gradescope_gives_nothing_where_nothing_was_graded():
    found = strictly(as_json(gradescope.failed(RUBRIC)))
    obey_gradescope(found)
    assert found["score"] == 0
    assert [t["max_score"] for t in found["tests"]] == [2, 3, 4]


@given(texts)
@quick
def test_gradescope_holds_whatever_a_submission_says(text):
    found = of_gradescope(RUBRIC, *hostile(text))
    assert "\x1b" not in json.dumps(found, ensure_ascii=False)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3))
@quick
def test_points_that_are_no_numbers_are_none(earned):
    items = tuple(dataclasses.replace(i, earned=e, points=9.0) for i, e in zip(WRONG.items, earned, strict=True))
    made = dataclasses.replace(WRONG, items=items, score=sum(earned))
    outputs = told.texts(RUBRIC, made, WRONG_RECORD)
    text = as_json(gradescope.results(batch(), RUBRIC, made, WRONG_RECORD, outputs))
    assert math.isfinite(strictly(text)["score"])
    share = strictly(as_json(prairielearn.results(made, outputs)))["score"]
    assert 0 <= share <= 1


def of_prairielearn(rubric, grade, record):
    """Return results.json, read back and held to the rules."""
    text = as_json(prairielearn.results(grade, told.texts(rubric, grade, record)))
    assert len(text.encode()) <= 1_000_000
    found = strictly(text)
    assert set(found) <= {"gradable", "score", "message", "output", "format_errors", "images", "tests"}
    assert type(found["gradable"]) is bool
    assert 0 <= found["score"] <= 1
    for test in found["tests"]:
        assert set(test) <= {"name", "description", "points", "max_points", "message", "output", "images"}
        assert 0 <= test["points"] <= test["max_points"]
    return found


def test_prairielearn_has_a_share_and_all_points():
    found = of_prairielearn(RUBRIC, WRONG, WRONG_RECORD)
    assert found["score"] == pytest.approx(2 / 9, abs=1e-5)
    assert [(t["points"], t["max_points"]) for t in found["tests"]] == [(0, 2), (0, 3), (2, 4)]
    assert of_prairielearn(RUBRIC, RIGHT, judged("ada"))["score"] == 1


@pytest.mark.parametrize("status", STATUSES)
def test_prairielearn_takes_no_attempt_for_what_cannot_be_graded(status):
    found = of_prairielearn(RUBRIC, *unjudged("carl", status, "line 3: invalid syntax"))
    ungraded = status in ("refused", "empty", "not-gradable", "error")
    assert found["gradable"] is not ungraded
    assert found["score"] == 0
    assert ("format_errors" in found) == ungraded


def test_prairielearn_shows_no_hidden_test_and_stays_small():
    rubric, made = (f(x, "Scale", visibility="hidden") for f, x in ((with_item, RUBRIC), (regraded, WRONG)))
    assert [t["name"] for t in of_prairielearn(rubric, made, WRONG_RECORD)["tests"]] == ["Masks", "All of it"]
    item = dataclasses.replace(WRONG.items[0], reason="x" * 3900)
    many = dataclasses.replace(WRONG, items=tuple(dataclasses.replace(item, name=str(n)) for n in range(800)))
    assert len(of_prairielearn(RUBRIC, many, WRONG_RECORD)["tests"]) == 800


@given(texts)
@quick
def test_prairielearn_holds_whatever_a_submission_says(text):
    of_prairielearn(RUBRIC, *hostile(text))


# The form that Jenkins publishes (junit.xsd): what may stand in what, with which attributes.
CHILDREN = {
    "testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "error", "skipped"},
    "failure": set(), "error": set(),
}  # fmt: skip
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "disabled"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname"},
    "testcase": {"name", "classname", "time", "status"}, "failure": {"type", "message"}, "error": {"type", "message"},
}  # fmt: skip
NEEDED = {"testsuite": {"name", "tests"}, "testcase": {"name", "classname"}}


def of_junit(grades, records):
    """Return the document, read back and held to its schema."""
    top = Tree.fromstring(class_junit.suites(RUBRIC, grades, records))
    assert top.tag == "testsuites"
    for element in top.iter():
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert NEEDED.get(element.tag, set()) <= set(element.attrib) <= ATTRIBUTES[element.tag]
        for name in {"tests", "failures", "errors", "skipped"} & set(element.attrib):
            counted = "testcase" if name == "tests" else name.removesuffix("s") if name != "skipped" else name
            assert int(element.get(name)) == len(list(element.iter(counted)))
    for suite in top:
        assert len({case.get("name") for case in suite}) == len(suite)
    return top


def test_junit_has_a_suite_for_each_submission():
    top = of_junit([RIGHT, WRONG, TIMEOUT[0]], [judged("ada"), WRONG_RECORD, TIMEOUT[1]])
    right, wrong, late = top
    assert [(s.get("name"), s.get("failures"), s.get("errors")) for s in top] == [
        ("ada", "0", "0"), ("bob", "3", "0"), ("carl", "0", "3"),
    ]  # fmt: skip
    assert len(right) == len(wrong) == len(late) == 3
    assert "the scores are not divided by √E" in wrong[0].find("failure").text
    assert late[0].find("error").get("message") == "timeout"


def test_junit_has_what_is_hidden_from_students():
    made = regraded(WRONG, "Scale", visibility="hidden", hint="none")
    (suite,) = of_junit([made], [WRONG_RECORD])
    assert "divided" in suite[0].find("failure").text


@given(texts)
@quick
def test_junit_holds_whatever_a_submission_says(text):
    made, kept = hostile(text)
    top = of_junit([made, made], [kept, kept])
    assert top[0].get("name") != top[1].get("name")
    assert len(list(top.iter("testcase"))) == 6


def sheet(text):
    """Return the rows of a sheet, numbers as numbers."""
    return [*csv.reader(io.StringIO(text.removeprefix("\ufeff")), quoting=csv.QUOTE_NONNUMERIC, strict=True)]


def test_nbgrader_has_the_columns_of_its_own_export():
    head, *rows = sheet(class_table.nbgrader_csv(RUBRIC, [RIGHT, WRONG, TIMEOUT[0]]))
    assert ",".join(head) == (
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_submission_penalty,"
        "score,max_score"
    )
    assert [(r[0], r[3], r[7], r[9], r[10]) for r in rows] == [
        ("Homework 3", "ada", 9, 9, 9), ("Homework 3", "bob", 2, 2, 9), ("Homework 3", "carl", 0, 0, 9),
    ]  # fmt: skip


def test_moodle_finds_its_participants():
    made = [dataclasses.replace(WRONG, submission=f"Bob O'Neil_12345_assignsubmission_{x}") for x in ("file", "file_x")]
    head, *rows = sheet(class_table.moodle_csv([*made, RIGHT]))
    column = {name: [row[n] for row in rows] for n, name in enumerate(head)}
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(head)  # without these it refuses a worksheet
    assert column["Identifier"] == ["Participant 12345", "Participant 12345", ""]
    assert column["Full name"] == ["Bob O'Neil", "Bob O'Neil", ""]
    assert column["Username"] == ["", "", "ada"]
    assert column["Grade"] == [2, 2, 9]
    assert column["Feedback comments"][2].startswith("9 of 9 points. Public checks passed.")


@given(texts)
@quick
def test_moodle_shows_whatever_a_submission_says_as_a_text(text):
    made = unjudged(text, "crashed", text)[0]
    _, (_, _, user, grade, _, _, comment) = sheet(class_table.moodle_csv([made]))
    assert not user.startswith(("=", "+", "-", "@"))
    assert grade == 0
    assert "<" not in comment
    assert html.unescape(comment).startswith("0 of 9 points. It crashed")
