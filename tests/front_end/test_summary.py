"""The three lines at the end of a run: what is right, what is wrong, what to read next."""

import copy

import pytest
from test_report import MISTAKE, RIGHT, WRONG, record, result

from attnconf.reports.summary import summary
from attnconf.reports.terminal import page


def three(content):
    empty, *lines = summary(content)
    assert empty == ""
    assert len(lines) == 3
    assert all("\n" not in line for line in lines)
    return [line.partition(":")[2].strip() for line in lines]


def topic(name, requirement, words, *rest, **changes):
    return result(name, requirement, *rest, topic=words, **changes)


def test_a_wrong_one():
    right, wrong, following = three(WRONG)
    assert right == "no section of the page in full (0 of 4)"
    assert wrong == "the scores are not divided by √E (ATT-SCALE-1); 1 failure follows"
    assert following == "read spec/attention.md#att-scale-1; attnconf explain ATT-SCALE-1"


def test_a_right_one():
    right, wrong, following = three(RIGHT)
    assert right.endswith("(2 of 2)")
    assert wrong == "nothing"
    assert following == "--thorough and --blind-spots look further"


def test_sections_that_hold_in_full_are_named():
    content = record(
        "x",
        [
            topic("x", "ATT-SHAPE-1", "Shape, dtype and memory"),
            topic("x", "ATT-SCALE-1", "The scores", "fail", reference=["reference/attention.py:33 default_scale"]),
            topic("x", "ATT-SCORE-1", "The scores"),
            topic("x", "ATT-DROP-1", "Dropout"),
            topic("x", "ATT-ORACLE-1", "All of it"),
        ],
    )
    right, wrong, following = three(content)
    assert right == "shape, dtype and memory; dropout (4 of 5)"
    assert wrong == "it is not so that it holds (ATT-SCALE-1)"
    assert following.startswith("read spec/attention.md#att-scale-1, then reference/attention.py:33 default_scale;")


def test_many_chapters_are_counted():
    pages = ("attention", "multi_head_attention", "layer_norm", "encoder")
    results = [
        result("x", f"ATT-A-{n}", "pass" if n else "fail", spec=f"spec/{page}.md#att-a-{n}", check=f"check_{n}")
        for n, page in enumerate((*pages, *pages))
    ]
    right, wrong, _ = three(record("x", results))
    assert right == "attention 1 of 2, multi-head attention all 2, layer norm all 2, encoder all 2 (7 of 8)"
    assert wrong == "it is not so that check 0 (ATT-A-0)"


def test_many_failures_stay_three_lines():
    results = [result("x", f"ATT-A-{n}", "fail", check=f"law_{n}_holds") for n in range(50)]
    _, wrong, following = three(record("x", results))
    assert wrong.endswith("; it is not so that law 2 holds (ATT-A-2); and 47 more")
    assert following.endswith("attnconf explain ATT-A-0")


def test_one_mistake_behind_many_failures_is_told_once():
    results = [result("x", f"ATT-A-{n}", "fail", diagnosis=[MISTAKE]) for n in range(5)]
    assert three(record("x", results))[1] == "the scores are not divided by √E (ATT-A-0, ATT-A-1, ATT-A-2, …)"


def test_recommendations_and_what_is_lacking():
    results = [
        result("x", "ATT-PREC-2", "fail", strength="SHOULD", check="it_is_precise"),
        result("x", "ATT-DROP-1", "unsupported", message="no dropout"),
        result("x", "ATT-SCALE-1"),
    ]
    content = record("x", results, verdict="incomplete")
    content["verdicts"][0]["reason"] = "1 required not supported (no dropout)"
    _, _right, *lines = summary(content)
    assert lines == [
        "wrong: nothing; not shown: 1 required not supported (no dropout)",
        "could be better: it is not so that it is precise (ATT-PREC-2)",
        "next:  read spec/attention.md#att-prec-2; attnconf explain ATT-PREC-2",
    ]


def test_a_recommendation_is_no_word_where_something_is_wrong_and_wrong_where_it_is_asked_for():
    recommended = result("x", "ATT-PREC-2", "fail", strength="SHOULD", check="it_is_precise")
    content = record("x", [result("x", "ATT-SCALE-1", "fail"), recommended])
    assert three(content)[1] == "it is not so that it holds (ATT-SCALE-1)"
    content = record("x", [result("x", "ATT-SCALE-1"), recommended])
    content["suite"]["strict"] = True
    assert three(content)[1] == "it is not so that it is precise (ATT-PREC-2)"


def test_a_known_deviation_is_not_to_be_repaired():
    known = {"reason": "as published", "link": "https://example.org"}
    assert three(record("x", [result("x", "ATT-SCALE-1", "fail", deviation=known)]))[1] == "nothing"


def test_what_cannot_be_judged():
    content = record("x", [])
    content["implementations"][0]["components"] = []
    content["verdicts"] = [
        {"implementation": "x", "component": None, "verdict": "not-gradable", "reason": "line 3: bad", "counts": {}}
    ]
    assert three(content) == ["nothing was judged", "line 3: bad", "what keeps it from being judged, see above"]
    content["verdicts"][0] |= {"verdict": "incomplete", "reason": "only a selection was judged"}
    assert three(content)[1] == "nothing; not shown: only a selection was judged"


@pytest.mark.parametrize("change", ["two", "cut"])
def test_a_comparison_and_a_cut_run_have_no_summary(change):
    content = copy.deepcopy(RIGHT)
    if change == "two":
        content["implementations"] *= 2
    content["complete"] = change != "cut"
    assert summary(content) == []


def of_one_file(*contents):
    whole = copy.deepcopy(contents[0])
    for other in contents[1:]:
        for key in ("implementations", "results", "verdicts"):
            whole[key] += other[key]
    for i in whole["implementations"]:
        i |= {"binding": "inferred", "source": "homework.py"}
    return whole


def test_each_component_of_one_file_has_its_lines():
    content = of_one_file(WRONG, RIGHT)
    lines = summary(content)
    assert lines[:2] == ["", "wrong"]
    assert lines[2:5] == summary(WRONG)[1:]
    assert lines[5:7] == ["", "right"]
    assert lines[7:] == summary(RIGHT)[1:]


def test_what_cannot_be_judged_beside_what_can():
    lost = record("lost", [])
    lost["implementations"][0]["components"] = []
    lost["verdicts"] = [
        {"implementation": "lost", "component": None, "verdict": "not-gradable", "reason": "line 3", "counts": {}}
    ]
    assert summary(of_one_file(RIGHT, lost))[-4:-1] == ["lost", "right: nothing was judged", "wrong: line 3"]


def test_it_stands_at_the_end():
    assert page(WRONG)[-3:] == summary(WRONG)[1:]
