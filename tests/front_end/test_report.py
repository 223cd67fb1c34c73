"""`attnconf report`: Markdown from any number of results files."""

import copy
import json

import pytest
from made_records import RIGHT, WRONG, record, result

from attnconf import cli
from attnconf.reports.markdown import page


def section(text, title):
    assert f"\n## {title}\n" in text, text
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def cells(lines):
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines.splitlines() if line.startswith("|")
    ]


@pytest.fixture(scope="module")
def text():
    return page([("a.json", WRONG), ("b.json", RIGHT)])


def test_implementations_stand_side_by_side(text):
    rows = {row[0]: row[1:] for row in cells(section(text, "Requirements"))}
    assert rows["requirement"] == ["strength", "wrong", "right"]
    assert rows["ATT-SCALE-1"] == ["MUST", "FAIL", "pass"]
    assert rows["ATT-ORACLE-1"] == ["MUST", "follows", ""]
    assert rows["ATT-ROWS-1"] == ["MUST", "FAIL, known", ""]
    assert rows["ATT-GRAD-1"] == ["MUST", "", "pass"]


def test_verdicts_have_counts_by_outcome(text):
    head, _, wrong, right = cells(section(text, "Verdicts"))
    assert head == [
        "implementation",
        "component",
        "profile",
        "verdict",
        "choices",
        "pass",
        "fail",
        "follow",
        "could be better",
        "error",
        "unsupported",
        "reason",
    ]
    assert wrong[3:] == ["nonconformant", "", "0", "2", "1", "1", "1", "2", "r"]
    assert right[3:] == ["conformant", "", "2", "0", "0", "0", "0", "0", "r"]


def test_a_failure_is_explained_once_at_its_root(text):
    failures = section(text, "Failures")
    assert failures.count("### ") == 1
    for part in (
        "### ATT-SCALE-1: wrong (attention)",
        "> It MUST hold ATT-SCALE-1.",
        "* Found: out[0]: got 1, want 2 (value; on 1 of 1",
        "* Likely mistake: the scores are not divided by √E (ATT-unscaled)",
        "* Hint: divide them",
        "* Error: 0.5 > 1e-06 (semantic gap)",
        "* Consequences: ATT-ORACLE-1",
        "* Specification: `spec/attention.md#att-scale-1`",
    ):
        assert part in failures


def test_what_is_known_recommended_unsupported_or_our_fault_has_its_own_table(text):
    known = section(text, "Known deviations")
    assert "ATT-ROWS-1" in known
    assert "as \\| published" in known
    assert "https://example.org/why" in known
    assert "It SHOULD be precise." in section(text, "Recommendations not followed")
    assert "no dropout &lt;here>" in section(text, "Not supported")
    assert "ATT-DROP-1, ATT-DROP-2" in section(text, "Not supported")
    assert "fault of the suite: KeyError" in section(text, "Faults of the suite")


def test_conventions_and_environments(text):
    assert cells(section(text, "Conventions"))[2] == ["fully-masked-row", "nan", ""]
    environment = {row[0]: row[1:] for row in cells(section(text, "Environment"))}
    assert environment[""] == ["a.json", "b.json"]
    assert environment["torch"] == ["2.13.0", "2.13.0"]
    assert environment["outcomes"] == ["4 fail, 2 unsupported, 1 error", "2 pass"]


def test_empty_sections_are_left_out():
    text = page([("b.json", RIGHT)])
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Verdicts",
        "## Requirements",
        "## Environment",
    ]


@pytest.mark.parametrize(
    ("versions", "names"),
    [(("1", "2"), ["right (1)", "right (2)"]), ((None, None), ["right (a.json)", "right (b.json)"])],
)
def test_implementations_of_one_name_are_told_apart(versions, names):
    one, other = (record("right", [result("right", "ATT-GRAD-1")], version) for version in versions)
    text = page([("a.json", one), ("b.json", other)])
    assert cells(section(text, "Requirements"))[0] == ["requirement", "strength", *names]
    assert [row[0] for row in cells(section(text, "Verdicts"))[2:]] == names


def test_what_is_not_whole_is_said_first_and_loudly():
    cut = RIGHT | {"complete": False, "planned": 9}
    chosen = copy.deepcopy(RIGHT)
    chosen["suite"] |= {"selected": True, "seed": 5}
    text = page([("a.json", cut), ("b.json", chosen)])
    before = text.split("## Verdicts")[0]
    assert "> **INCOMPLETE: a.json is from a run that was cut short.** 2 of 9 planned checks" in before
    assert "> **A selection: b.json holds a part of the checks only.**" in before
    assert "> **The files differ in their seeds:** 0, 5." in before


@pytest.fixture
def files(tmp_path):
    for name, content in {
        "wrong.json": json.dumps(WRONG),
        "right.json": json.dumps(RIGHT),
        "broken.json": '{"schema": ',
        "list.json": "[]",
        "other.json": '{"schema": "bowtie/1"}',
        "hollow.json": json.dumps({**RIGHT, "results": 5}),
        "nan.json": json.dumps({**RIGHT, "planned": float("nan")}),
        "binary.json": "",
    }.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    return tmp_path


def test_report_from_the_command_line(files, capsys):
    assert cli.main(["report", str(files / "wrong.json"), str(files / "right.json"), str(files / "right.json")]) == 0
    printed = capsys.readouterr().out
    assert cells(section(printed, "Requirements"))[0] == ["requirement", "strength", "wrong", "right"]
    assert cli.main(["report", str(files / "wrong.json"), str(files / "right.json"), "-o", str(files / "t.md")]) == 0
    assert (files / "t.md").read_text(encoding="utf-8") == printed


def test_a_report_inside_a_checkout_links_to_the_pages():
    text = page([("a.json", WRONG)], "../")
    assert "[ATT-SCALE-1](../spec/attention.md#att-scale-1)" in section(text, "Requirements")
    assert "[spec/attention.md#att-scale-1](../spec/attention.md#att-scale-1)" in section(text, "Failures")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.json", "no results file "),
        (".", "cannot read "),
        ("broken.json", "is not JSON: "),
        ("binary.json", "is not JSON: "),
        ("deep.json", "is not JSON: "),
        ("nan.json", "is not JSON: NaN is no JSON number"),
        ("list.json", "is no results file: its schema is None, want 'attnconf-results/1'"),
        ("other.json", "is no results file: its schema is 'bowtie/1', want 'attnconf-results/1'"),
        ("hollow.json", 'is no results file: results: it is not of type "array"; found 5'),
    ],
)
def test_what_is_no_results_file_is_refused_in_one_line(files, capsys, name, message):
    (files / "t.md").write_text("as it was", encoding="utf-8")
    assert cli.main(["report", str(files / "right.json"), str(files / name), "-o", str(files / "t.md")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ERROR: ")
    assert message in err
    assert len(err.splitlines()) == 1
    assert (files / "t.md").read_text(encoding="utf-8") == "as it was"


@pytest.mark.parametrize("output", [".", "nowhere/t.md"])
def test_a_report_that_cannot_be_written(files, capsys, output):
    assert cli.main(["report", str(files / "right.json"), "-o", str(files / output)]) == 2
    assert capsys.readouterr().err.startswith("ERROR: cannot write ")
