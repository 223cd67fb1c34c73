"""`attnconf report`: Markdown from any number of results files."""

import copy
import json
import lzma
import re

import pytest
from made_records import DEVIATION, RIGHT, WRONG, many, record, result

from attnconf import cli
from attnconf.reports.markdown import page
from attnconf.reports.record import write


def part(text, title):
    start = f"<details><summary>{title}</summary>\n\n"
    assert start in text, text
    return text.split(start)[1].split("\n\n</details>")[0]


def cells(lines):
    return [
        [cell.strip() for cell in line.strip("|").split(" |")] for line in lines.splitlines() if line.startswith("|")
    ]


@pytest.fixture(scope="module")
def text():
    return page([("a.json", WRONG), ("b.json", RIGHT)])


def test_several_implementations_are_one_table(text):
    lines = text.splitlines()
    assert lines[:3] == ["# 2 implementations", "", "1 conformant, 1 nonconformant."]
    first = text.split("<details>")[0].split("\n\n")
    assert cells(first[2]) == [
        ["implementation", "version", "verdict", "conformant components", "precise", "broken"],
        [":---|:---|:---|:---|:---|:---"],
        ["wrong", "", "nonconformant", "0 of 1", "0 of 1", "2"],  # one of the two is known
        ["right", "", "conformant", "1 of 1", "", "0"],
    ]
    assert cells(first[3])[2:] == [
        ["wrong", "attention", "ATT-SCALE-1", "the scores are not divided by √E", "homework.py:12"]
    ]


def test_one_implementation_is_told_by_component():
    lines = page([("a.json", WRONG)]).splitlines()
    assert lines[0] == "# wrong: nonconformant"
    assert cells("\n".join(lines))[2] == ["attention", "nonconformant", "0 of 1", "", "r"]


def test_the_failure_in_full_is_folded(text):
    block = part(text, "Failures in full")
    assert block.count("violated by") == 1
    for line in (
        "ATT-SCALE-1 violated by wrong (attention)",
        "  likely    the scores are not divided by √E  (reproduces your output on 1 of 1 cases)",
        "  where     homework.py:12  scores = q @ k.mT",
        "  rule      It MUST hold ATT-SCALE-1.",
        "  breaks    ATT-ORACLE-1 (consequences)",
        "  spec      spec/attention.md#att-scale-1",
    ):
        assert line in block.splitlines()


def test_what_is_known_recommended_unsupported_or_our_fault_has_its_own_table(text):
    assert cells(part(text, "Known deviations"))[2:] == [
        ["ATT-ROWS-1", "wrong", "as \\| published", "https://example.org/why"]
    ]
    assert cells(part(text, "Recommendations not followed"))[2:] == [
        ["ATT-PREC-2", "precise", "It SHOULD be precise.", "wrong"]
    ]
    assert cells(part(text, "Not supported"))[2:] == [["wrong", "no dropout &lt;here>", "ATT-DROP-1, ATT-DROP-2"]]
    assert "fault of the suite: KeyError" in part(text, "Faults of the suite")


def test_chapters_choices_and_environment(text):
    assert cells(part(text, "Chapter by chapter"))[2:] == [["wrong", "✗ 2 of 4"], ["right", "2"]]
    assert cells(part(text, "Choices"))[2:] == [["fully-masked-row", "nan", "wrong"]]
    environment = cells(part(text, "Environment"))
    assert ["In all of them", "torch", "2.13.0"] in environment
    assert ["a.json", "repeat", "attnconf run --impl=wrong --profile=core-1 --results=a.json"] in environment


def test_parts_with_nothing_in_them_are_left_out():
    assert re.findall("<summary>(.*?)</summary>", page([("b.json", RIGHT)])) == ["Chapter by chapter", "Environment"]


def test_a_large_report_can_be_shown_by_a_forge():
    assert len(page([("many.json", many(60, 500))]).encode()) < 60_000


def every(content, outcome, **changes):
    """Return a record with one outcome everywhere, and long words that differ."""
    for n, r in enumerate(content["results"]):
        words = {key: value(n) for key, value in changes.items()}
        r |= {"outcome": outcome, "follows_from": [], "diagnosis": [], **words}
        r["cases"][0]["outcome"] = "fail" if outcome == "fail" else "pass"
    return content


@pytest.mark.parametrize(
    "content",
    [
        every(many(54, 150), "error", message=lambda n: f"CUDA error: device-side assert {n} " * 20),
        every(many(54, 150), "unsupported", message=lambda n: f"takes no √{n} " * 20),
        every(many(54, 150), "fail", deviation=lambda n: {"reason": f"as {n} " * 40, "link": f"https://{'x' * 90}"}),
        every(many(54, 150), "fail", message=lambda n: f"{n} was found " * 90),
        many(400, 20),
    ],
    ids=("faults", "lacks", "deviations", "failures", "implementations"),
)
def test_whatever_is_long_is_cut_and_says_so(content):
    text = page([("many.json", content)])
    assert len(text.encode()) < 60_000
    assert re.search(r"^And \d+ more( lines)?, which the HTML report has\.$", text, re.M)
    assert text.count("<details>") == text.count("</details>")
    assert sum(line.startswith("```") for line in text.splitlines()) % 2 == 0
    assert "<summary>Environment</summary>" in text  # what is short is whole


def test_one_fault_is_one_row():
    content = every(many(2, 30), "error", message=lambda n: "CUDA error: device-side assert triggered")
    rows = cells(part(page([("many.json", content)]), "Faults of the suite"))[2:]
    assert [(row[0], row[3]) for row in rows] == [
        (f"impl-{n}", "CUDA error: device-side assert triggered") for n in range(2)
    ]
    assert rows[0][2].endswith("ATT-MADE-7 and 22 more")


@pytest.mark.parametrize(
    ("versions", "names"),
    [(("1", "2"), ["right (1)", "right (2)"]), ((None, None), ["right (a.json)", "right (b.json)"])],
)
def test_implementations_of_one_name_are_told_apart(versions, names):
    one, other = (record("right", [result("right", "ATT-GRAD-1")], version) for version in versions)
    text = page([("a.json", one), ("b.json", other)])
    assert [row[0] for row in cells(text.split("<details>")[0])[2:]] == names


def test_what_is_not_whole_is_said_first_and_loudly():
    cut = RIGHT | {"complete": False, "planned": 9}
    chosen = copy.deepcopy(RIGHT)
    chosen["suite"] |= {"selected": True, "seed": 5}
    text = page([("a.json", cut), ("b.json", chosen)])
    before = text.split("\n| ")[0]
    assert "> **INCOMPLETE: a.json is from a run that was cut short. 2 of 9 planned checks" in before
    assert "> **A selection: b.json holds a part of the checks only.**" in before
    assert "> **The files differ in their seeds: 0, 5.**" in before
    assert "1 conformant, 1 incomplete." in before


def test_what_a_file_says_cannot_leave_its_place():
    hostile = "```\n<details>\x1b[31m| \u202e"
    failing = record("mine", [result("mine", "ATT-A-1", "fail", message=hostile)])
    failing["results"][0]["cases"][0]["message"] = hostile
    text = page([("a.json", failing)])
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("```") == 2
    assert all(line.count("|") - line.count("\\|") == 6 for line in text.splitlines() if "ATT-A-1 |" in line)


FAR_OFF = {"outcome": "pass", "error": 0.1, "bound": 0.01}


def with_case(content, **changes):
    """Return a record whose first result has another case."""
    changed = copy.deepcopy(content)
    changed["results"][0]["cases"][0] |= changes
    return changed


def said(content, verdict, **changes):
    """Return a record with another verdict on the same results."""
    return {**content, "verdicts": [{**content["verdicts"][0], "verdict": verdict, **changes}]}


@pytest.fixture
def files(tmp_path):
    for name, content in {
        "wrong.json": json.dumps(WRONG),
        "right.json": json.dumps(RIGHT),
        "broken.json": '{"schema": ',
        "list.json": "[]",
        "other.json": '{"schema": "bowtie/1"}',
        "hollow.json": json.dumps({**RIGHT, "results": 5}),
        "cut.json": json.dumps(WRONG)[:5000],
        "stranger.json": json.dumps({**RIGHT, "results": [result("other", "ATT-SCALE-1")]}),
        "twice.json": json.dumps({**RIGHT, "implementations": RIGHT["implementations"] * 2}),
        "caseless.json": json.dumps({**RIGHT, "results": [result("right", "ATT-SCALE-1", "fail", cases=[])]}),
        "fewer.json": json.dumps({**RIGHT, "planned": 9}),
        "accused.json": json.dumps(said(RIGHT, "nonconformant")),
        "praised.json": json.dumps(said(WRONG, "conformant")),
        "excused.json": json.dumps(said(record("x", [result("x", "ATT-SCALE-1", "fail")]), "incomplete")),
        "faulty.json": json.dumps(said(record("x", [result("x", "ATT-HALF-1", "error")]), "conformant")),
        "lacking.json": json.dumps(said(record("x", [result("x", "ATT-DROP-1", "unsupported")]), "conformant")),
        "blamed.json": json.dumps(said(RIGHT, "not-gradable")),
        "miscounted.json": json.dumps(said(RIGHT, "conformant", counts={"pass": 3})),
        "flattered.json": json.dumps(said(WRONG, "nonconformant", qualities={"precise": {"met": 14, "judged": 14}})),
        "too-modest.json": json.dumps(said(WRONG, "nonconformant", qualities={})),
        "far-off.json": json.dumps(with_case(RIGHT, error=1e-4)),
        "far-off-in-half.json": json.dumps(with_case(RIGHT, by_dtype={"float16": FAR_OFF})),
        "failing-in-half.json": json.dumps(with_case(RIGHT, by_dtype={"float16": {**FAR_OFF, "outcome": "fail"}})),
        "failing-case.json": json.dumps(with_case(RIGHT, outcome="fail")),
        "unjudged.json": json.dumps({**RIGHT, "verdicts": []}),
        "judged-twice.json": json.dumps({**RIGHT, "verdicts": RIGHT["verdicts"] * 2}),
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
    assert [row[0] for row in cells(printed)[2:4]] == ["wrong", "right"]
    assert cli.main(["report", str(files / "wrong.json"), str(files / "right.json"), "-o", str(files / "t.md")]) == 0
    assert (files / "t.md").read_text(encoding="utf-8") == printed


def test_a_report_inside_a_checkout_links_to_the_pages():
    text = page([("a.json", WRONG)], "../")
    assert "[ATT-SCALE-1](../spec/attention.md#att-scale-1)" in text.split("<details>")[0]
    assert "[ATT-PREC-2](../spec/attention.md#att-prec-2)" in part(text, "Recommendations not followed")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.json", "no results file "),
        (".", "cannot read "),
        ("broken.json", "is not JSON: "),
        ("cut.json", "is not JSON: "),
        ("stranger.json", "contradicts itself: 'other' was judged, and is none of its implementations"),
        ("twice.json", "contradicts itself: two implementations are called 'right'"),
        ("caseless.json", "contradicts itself: ATT-SCALE-1 fails on right, and on none of its cases"),
        ("fewer.json", "contradicts itself: it is complete, with 2 of 9 results"),
        ("accused.json", "contradicts itself: right (attention) is said to be nonconformant, and no failure counts"),
        ("praised.json", "contradicts itself: wrong (attention) is said to be conformant, and ATT-SCALE-1 fails"),
        ("excused.json", "contradicts itself: x (attention) is said to be incomplete, and ATT-SCALE-1 fails"),
        ("faulty.json", "is said to be conformant, and the suite itself failed on ATT-HALF-1"),
        ("lacking.json", "is said to be conformant, and ATT-DROP-1 was not judged"),
        ("blamed.json", "is said to be not-gradable, and the suite failed on none of its requirements"),
        ("miscounted.json", "is said to be conformant, and counts 3 pass, where its results are 2 pass"),
        ("flattered.json", "nonconformant, and meets precise 14 of 14, where its results are precise 0 of 1"),
        ("too-modest.json", "nonconformant, and meets none, where its results are precise 0 of 1"),
        (
            "far-off.json",
            "ATT-SCALE-1 passes on right, and is off by 0.0001 on its case peaked-3, where 1e-06 is allowed",
        ),
        ("far-off-in-half.json", "is off by 0.1 on its case peaked-3 in float16, where 0.01 is allowed"),
        ("failing-in-half.json", "ATT-SCALE-1 passes on right, and fails on its case peaked-3 in float16"),
        ("failing-case.json", "ATT-SCALE-1 passes on right, and fails on its case peaked-3"),
        ("unjudged.json", "contradicts itself: there is no verdict on attention of right"),
        ("judged-twice.json", "contradicts itself: there is more than one verdict on attention of right"),
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


def test_results_may_be_packed(tmp_path, capsys):
    packed = tmp_path / "right.json.xz"
    write(packed, RIGHT)
    assert cli.main(["report", str(packed), "-o", str(tmp_path / "r.csv")]) == 0
    whole = packed.read_bytes()
    assert json.loads(lzma.decompress(whole)) == RIGHT
    for spoilt in (whole[:-20], b"{}"):
        packed.write_bytes(spoilt)
        assert cli.main(["report", str(packed)]) == 2
        err = capsys.readouterr().err
        assert "is not JSON: it is not packed by xz: " in err
        assert len(err.splitlines()) == 1


STRICT = result("x", "ATT-PREC-2", "fail", strength="SHOULD") | {"counts": True}
RECOMMENDED = result("x", "ATT-PREC-2", "fail", strength="SHOULD")
OPTIONAL = result("x", "ATT-DROP-1", "unsupported", optional=True)
UNSETTLED = result("x", "ATT-SCALE-1", "fail") | {"counts": False, "settled": False}


@pytest.mark.parametrize(
    ("results", "verdict", "changes"),
    [
        ([STRICT], "nonconformant", {}),  # --strict, or a profile in which a quality counts
        ([RECOMMENDED], "conformant", {}),
        ([RECOMMENDED], "nonconformant", {"broken": ["mask has no effect"]}),
        ([result("x", "ATT-ROWS-1", "fail", deviation=DEVIATION)], "nonconformant", {}),
        ([OPTIONAL], "conformant", {}),
        ([UNSETTLED], "unrecognised", {}),
        ([UNSETTLED], "incomplete", {}),
        ([result("x", "ATT-SCALE-1")], "incomplete", {}),  # a selection, or an argument that was not tried
        ([result("x", "ATT-HALF-1", "error"), result("x", "ATT-SCALE-1", "fail")], "not-gradable", {}),
        ([], "not-gradable", {"component": None}),
    ],
)
def test_what_a_run_can_say_is_no_contradiction(tmp_path, results, verdict, changes):
    content = said(record("x", results), verdict, **changes)
    (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "x.json"), "-o", str(tmp_path / "x.csv")]) == 0


def test_of_a_run_that_was_cut_short_what_is_said_so_far_is_no_contradiction(tmp_path):
    content = said(RIGHT, "incomplete", counts={}) | {"complete": False, "planned": 9}
    (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "x.json"), "-o", str(tmp_path / "x.csv")]) == 0


@pytest.mark.parametrize("output", [".", "nowhere/t.md"])
def test_a_report_that_cannot_be_written(files, capsys, output):
    assert cli.main(["report", str(files / "right.json"), "-o", str(files / output)]) == 2
    assert capsys.readouterr().err.startswith("ERROR: cannot write ")
