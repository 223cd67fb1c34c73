"""`attnconf report -o report.html`: every number is in the results, recomputed here by another way."""

import json
import re
import time
from collections import Counter

import pytest
from made_records import RIGHT, WRONG, many, record, result

from attnconf import cli
from attnconf.reports import merging
from attnconf.reports.comparison import accuracy, length_plot, matrix, overview
from attnconf.reports.comparison.page import Pages, page
from attnconf.reports.comparison.visible import MOST, visible

LETTERS = {"pass": "p", "unsupported": "u", "error": "e", "not-applicable": "n", "not-run": "r"}


def data(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def plain_letter(r):
    if r["outcome"] != "fail":
        return LETTERS[r["outcome"]]
    return "k" if r["deviation"] else "o" if r["follows_from"] else "f" if r["counts"] else "w"


@pytest.mark.parametrize("records", [[WRONG, RIGHT], [many(5, 40)]])
def test_the_cells_are_those_of_the_results(records):
    found = data(page([(f"{n}.json", r) for n, r in enumerate(records)], Pages()))
    wanted = {(r["requirement"], r["implementation"]): plain_letter(r) for x in records for r in x["results"]}
    cells = {
        (row[0], name): letter
        for section in found["sections"]
        for row in section
        for name, letter in zip(found["columns"], row[6], strict=True)
        if letter != " "
    }
    assert cells == wanted
    told = {
        (requirement, found["columns"][int(column)]): found["said"][r if isinstance(r, int) else r[0]][2]
        for requirement, by_column in found["results"].items()
        for column, (r,) in by_column.items()
    }
    assert told == wanted


def test_the_sections_count_what_they_hold():
    made = many(5, 40)
    sections = matrix.sections(matrix.columns(merging.judged([("m.json", made)])))
    for section in sections:
        for name, (letter, text) in zip((i["name"] for i in made["implementations"]), section.cells(), strict=True):
            mine = [r for r in made["results"] if r["implementation"] == name and r["topic"] == section.title]
            counted = Counter(map(plain_letter, mine))
            worst = next(kind for kind in "fop" if counted[kind])
            assert (letter, text) == (
                worst,
                {"f": "✗ ", "o": "↳ ", "p": "✓"}[worst] + str(counted[worst]) * (worst != "p"),
            )


def test_the_overview_counts_over_all_components():
    two = record("two", [result("two", "ATT-SCALE-1")], verdict="conformant")
    two["verdicts"][0]["qualities"] = {"robust": {"met": 3, "judged": 4}}
    two["verdicts"].append({**two["verdicts"][0], "component": "rotary", "verdict": "incomplete"})
    text = page([("two.json", two)], Pages())
    assert "6 of 8" in text
    assert "1 of 2 conform: rotary incomplete" in text


def test_what_lowers_a_verdict_is_counted_whether_it_is_known_or_an_argument():
    known = {
        **result("two", "ATT-SCALE-1", outcome="fail"),
        "deviation": {"reason": "so it is", "link": "https://x.org"},
    }
    two = record("two", [known], verdict="nonconformant")
    two["verdicts"][0]["broken"] = ["the argument `mask` has no effect"]
    (entry,) = overview.entries(merging.judged([("two.json", two)]))
    assert (entry.broken, entry.known) == (2, 1)


def test_the_largest_share_of_a_bound():
    cases = [("small-1: q(1, 2, 9, 3) k(1, 2, 5, 3) float64", 2e-7), ("long-1: 70 tokens float32", 4e-7)]
    made = [result("one", f"ATT-ONE-{n}") for n in range(2)]
    for r, (described, error) in zip(made, cases, strict=True):
        r["cases"][0] |= {"described": described, "error": error, "bound": 1e-6}
    judged = merging.judged([("one.json", record("one", made))])
    (dtypes, ((_, by_dtype),)), ((_, by_length),) = accuracy.by_dtype(judged), accuracy.by_length(judged)
    assert dtypes == ["float64", "float32"]
    assert [s and (s.share, s.requirement) for s in by_dtype] == [(0.2, "ATT-ONE-0"), (0.4, "ATT-ONE-1")]
    assert [s and s.share for s in by_length] == [None, 0.2, 0.4, None, None]
    assert accuracy.length_titles() == ["1–8", "9–64", "65–512", "513–2048", "2049 and more"]


def test_the_dtypes_of_a_case_are_told_apart():
    one = result("one", "ATT-ONE-0")
    measured = {"outcome": "pass", "error": 3e-3, "bound": 1e-2}
    lost = {"outcome": "fail", "error": None, "bound": 1e-3}
    one["cases"][0] |= {"described": "a: 600 tokens float64", "by_dtype": {"bfloat16": measured, "float16": lost}}
    judged = merging.judged([("one.json", record("one", [one]))])
    dtypes, ((_, shares),) = accuracy.by_dtype(judged)
    assert dtypes == ["bfloat16", "float16"]
    assert [(s.said, s.heat) for s in shares] == [("0.3 ATT-ONE-0", "half"), ("✗ ATT-ONE-0", "beyond")]
    assert accuracy.at_lengths(judged) == []  # these are in full precision


def test_old_results_do_not_say_which_half_precision_it_was():
    one = result("one", "ATT-HALF-1")
    one["sentence"] = "In bfloat16 and float16 the error SHOULD keep to the budget."
    one["cases"][0] |= {"error": 1e-3, "bound": 1e-2}
    dtypes, _ = accuracy.by_dtype(merging.judged([("one.json", record("one", [one]))]))
    assert dtypes == [accuracy.UNSAID]


def test_the_plot_has_a_point_for_each_length_with_what_it_is():
    cases = [("a: q(1, 2, 4, 3) float64", 2e-7), ("b: 64 tokens float32", 3e-6), ("c: 64 tokens float32", 1e-9)]
    made = [result("<one>", f"ATT-ONE-{n}") for n in range(3)]
    for r, (described, error) in zip(made, cases, strict=True):
        r["cases"][0] |= {"described": described, "error": error, "bound": 1e-6}
    text = page([("one.json", record("<one>", made))], Pages())
    plot = re.search(r'<svg class="lengths".*?</svg>', text, re.DOTALL)[0]
    assert re.findall(r"<title>(.*?)</title>", plot) == [
        "&lt;one&gt;, 4: 0.2 ATT-ONE-0",
        "&lt;one&gt;, 64: 3 ATT-ONE-1",
    ]
    left, right = re.findall(r'cx="([\d.]+)"', plot)
    longer, shorter = length_plot.RIGHT - length_plot.LEFT, (length_plot.RIGHT - length_plot.LEFT) / 3  # 2² of 2⁶
    assert (float(left), float(right)) == (round(length_plot.LEFT + shorter, 1), length_plot.LEFT + longer)
    assert re.findall(r'circle class="(\w+)"', plot) == ["within", "beyond"]


def test_of_very_many_points_the_largest_are_drawn():
    text = page([("m.json", many(30, 100))], Pages())
    assert text.count("<circle ") == length_plot.MOST
    assert f"(the {length_plot.MOST} largest of " in text


def test_there_is_no_plot_of_one_length():
    assert "<figure" not in page([("right.json", RIGHT)], Pages())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", "a[ESC][31mred"),
        ("\u202egnp.exe", "[U+202E right-to-left override]gnp.exe"),
        ("two\nlines\tapart", "two\nlines\tapart"),
        ("x\r\n", "x\n"),
        ("\x00", "[U+0000]"),
        ("é√", "é√"),
    ],
)
def test_what_is_unseen_is_named(text, shown):
    assert visible(text) == shown


def test_what_is_too_long_is_cut_and_says_so():
    assert visible("x" * (MOST + 7)) == "x" * MOST + " … (7 more characters in the results file)"


@pytest.mark.parametrize(("implementations", "requirements"), [(30, 700), (200, 100)])
def test_a_gallery_and_a_class_are_small_and_soon_there(implementations, requirements):
    records = [("m.json", many(implementations, requirements))]
    page(records, Pages())
    start = time.process_time()
    text = page(records, Pages())
    assert time.process_time() - start < 3
    assert len(text.encode()) < 2_000_000


def test_the_verb_writes_the_page_with_the_specification(tmp_path, capsys):
    (tmp_path / "wrong.json").write_text(json.dumps(WRONG), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "wrong.json"), "-o", str(tmp_path / "r.html")]) == 0
    assert capsys.readouterr().out == f"written: {tmp_path / 'r.html'}\n"
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    rows, texts = data(text)["sections"], data(text)["passages"]
    formulas, notes = (texts[n] for n in next(row[4] for section in rows for row in section if row[0] == "ATT-SCALE-1"))
    assert "<math" in formulas
    assert "E is the width of one head" in notes
    assert "attnconf run --impl=wrong --profile=core-1 --results=wrong.json" in text


def test_a_form_that_is_not_known_is_refused(tmp_path, capsys):
    (tmp_path / "a.json").write_text(json.dumps(RIGHT), encoding="utf-8")
    assert cli.main(["report", str(tmp_path / "a.json"), "-o", str(tmp_path / "r.pdf")]) == 2
    assert "its name must end in .html, .md, .csv, .xml, .svg or .json" in capsys.readouterr().err
