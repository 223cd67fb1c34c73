"""`attnconf report` as CSV, JUnit and badge."""

import csv
import io
import json
from xml.etree import ElementTree as Tree

import pytest
from made_records import RIGHT, WRONG, record, result

from attnconf import cli
from attnconf.reports import badge, junit, spreadsheet

BOTH = [("a.json", WRONG), ("b.json", RIGHT)]
NONE = record("none", [], verdict="not-gradable")
CUT = RIGHT | {"complete": False, "planned": 9}


def sheet(records):
    return list(csv.DictReader(io.StringIO(spreadsheet.sheet(records))))


def test_a_sheet_has_a_row_for_each_result():
    rows = sheet(BOTH)
    assert len(rows) == len(WRONG["results"]) + len(RIGHT["results"])
    first = {key: rows[0][key] for key in ("implementation", "requirement", "outcome", "counts", "mistake", "cases")}
    assert first == {
        "implementation": "wrong", "requirement": "ATT-SCALE-1", "outcome": "fails", "counts": "yes",
        "mistake": "the scores are not divided by √E", "cases": "1",
    }  # fmt: skip
    assert float(rows[0]["share of the bound"]) == pytest.approx(0.5 / 1e-6)
    assert {row["complete"] for row in sheet([("a.json", CUT)])} == {"no"}


@pytest.mark.parametrize("message", ["=1+1", "@SUM(A1)", "+1", "-1"])
def test_a_sheet_has_no_formulas(message):
    (row,) = sheet([("a.json", record("mine", [result("mine", "ATT-A-1", "fail", message=message)]))])
    assert row["found"] == f"'{message}"


def test_junit_has_a_case_for_each_requirement():
    top = Tree.fromstring(junit.suites(BOTH))
    wrong, right = top
    assert {key: wrong.get(key) for key in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "wrong", "tests": "7", "failures": "2", "errors": "1", "skipped": "4",
    }  # fmt: skip
    assert (right.get("tests"), right.get("failures"), right.get("skipped")) == ("2", "0", "0")
    cases = {case.get("name"): case for case in wrong}
    failure = cases["ATT-SCALE-1 (direct)"].find("failure")
    assert failure.get("message") == "out[0]: got 1, want 2"
    assert "likely    the scores are not divided by √E" in failure.text
    assert cases["ATT-ORACLE-1 (direct)"].find("failure").text == "follows from ATT-SCALE-1"
    assert cases["ATT-ROWS-1 (direct)"].find("skipped").get("message") == "known: as | published"
    assert cases["ATT-PREC-2 (direct)"].find("skipped").get("message").startswith("not met: ")


def test_junit_shows_what_was_cut_short_and_what_could_not_be_judged():
    (suite,) = Tree.fromstring(junit.suites([("a.json", CUT)]))
    assert [case.get("name") for case in suite if case.find("error") is not None] == ["the run is complete"]
    none = record("none", [], verdict="not-gradable")
    none["verdicts"][0] |= {"component": None, "reason": "no forward"}
    (suite,) = Tree.fromstring(junit.suites([("a.json", none)]))
    assert suite.find("testcase/error").get("message") == "no forward"


def test_junit_is_xml_whatever_a_file_says():
    hostile = "\x00\x1b[31m\ufffe\ud800</failure><x>&"
    failing = record("mine", [result("mine", "ATT-A-1", "fail", message=hostile)])
    (suite,) = Tree.fromstring(junit.suites([("a.json", failing)]))
    assert suite.find("testcase/failure").get("message").endswith("</failure><x>&")


@pytest.mark.parametrize(
    ("records", "message", "colour"),
    [
        ([("a.json", RIGHT)], "conformant", "green"),
        ([("a.json", WRONG)], "nonconformant", "red"),
        ([("a.json", CUT)], "incomplete", "orange"),
        (BOTH, "1 of 2 conformant", "red"),
        ([*BOTH, ("c.json", NONE)], "1 of 3 conformant", "red"),
        ([("a.json", CUT), ("b.json", WRONG)], "0 of 2 conformant, incomplete", "red"),
    ],
)
def test_a_badge_says_the_verdict(records, message, colour):
    told = json.loads(badge.endpoint(records))
    assert told == {"schemaVersion": 1, "label": "attention", "message": message, "color": colour}
    picture = Tree.fromstring(badge.svg(records))
    assert picture.get("aria-label") == f"attention: {message}"


@pytest.mark.parametrize("name", ["r.csv", "r.xml", "r.svg", "r.json", "r.HTML", "r.CSV", "r.Md"])
def test_every_form_is_written(tmp_path, name):
    (tmp_path / "a.json").write_text(json.dumps(WRONG), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "a.json"), "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).stat().st_size > 50


def test_the_end_of_a_name_says_the_form_in_capitals_too(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(WRONG), encoding="utf-8")
    for capitals, small in (("r.HTML", "r.html"), ("r.MD", "r.md")):
        for verb in (["report", "a.json"], ["diff", "a.json", "a.json"]):
            for name in (capitals, small):
                words = [str(tmp_path / word) if word == "a.json" else word for word in verb]
                assert cli.main([*words, "-o", str(tmp_path / name)]) == 0
            assert (tmp_path / capitals).read_bytes() == (tmp_path / small).read_bytes()


def test_a_badge_never_overwrites_results(tmp_path, capsys):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(WRONG), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "a.json"), "-o", str(tmp_path / "b.json")]) == 2
    assert "holds results, which a badge would overwrite" in capsys.readouterr().err
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8")) == WRONG
