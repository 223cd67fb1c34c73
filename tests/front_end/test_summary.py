"""What stands at the end of a run: what is wrong, how and where to mend it, what to read next, what is optional."""

import copy

import pytest
from made_records import MISTAKE, NO_MORE, RIGHT, WRONG, record, result

from attnconf.reports.summary import summary
from attnconf.reports.terminal import page

LOOK = {"hint": "hidden keys still get weight", "where": "somewhere in forward(), homework.py:14–26"}


def told(content):
    """Return the lines as (label, text)."""
    empty, *lines = summary(content)
    assert empty == ""
    assert all("\n" not in line for line in lines)
    return [(label, text.strip()) for label, _, text in (line.partition(":") for line in lines)]


def test_a_mistake_is_followed_by_its_mending_and_its_place():
    assert told(WRONG) == [
        ("wrong", "the scores are not divided by √E (ATT-SCALE-1); 1 failure follows"),
        ("fix", "divide them"),
        ("where", "homework.py:12  scores = q @ k.mT"),
        ("next", "read spec/attention.md#att-scale-1; attnconf explain ATT-SCALE-1"),
        ("later", "ATT-PREC-2: could be better, no part of the verdict"),
    ]


def test_a_right_one():
    assert told(RIGHT) == [
        ("wrong", "nothing"),
        ("next", "--thorough explores further; --blind-spots shows lines that no check ran"),
    ]


def test_where_no_mistake_is_known_there_is_something_to_try_and_a_place():
    content = record("x", [result("x", "MASK-ROWS-1", "fail", advice=LOOK)])
    assert told(content)[:3] == [
        ("wrong", "does not hold: it holds (MASK-ROWS-1)"),
        ("try", LOOK["hint"]),
        ("where", LOOK["where"]),
    ]


def test_the_reference_is_named_where_it_is_known():
    content = record("x", [result("x", "ATT-SCALE-1", "fail", reference=["reference/attention.py:33 default_scale"])])
    assert told(content)[-1][1].startswith(
        "read spec/attention.md#att-scale-1, then reference/attention.py:33 default_scale;"
    )


def test_two_mistakes_that_were_made_together_are_each_mended():
    other = MISTAKE | {"mutants": ["ATT-sigmoid"], "story": "a sigmoid", "hint": "softmax", "where": None, "code": None}
    content = record("x", [result("x", "ATT-SCALE-1", "fail", diagnosis=[MISTAKE, other])])
    assert [label for label, _ in told(content)] == ["wrong", "fix", "where", "wrong", "fix", "next"]


def test_many_failures_stay_few_lines():
    results = [result("x", f"ATT-A-{n}", "fail", check=f"law_{n}_holds") for n in range(50)]
    lines = told(record("x", results))
    assert lines[2] == ("wrong", "does not hold: law 2 holds (ATT-A-2)")
    assert lines[3] == ("wrong", "47 more: without -q each is shown")
    assert lines[4][1].endswith("attnconf explain ATT-A-0")


def test_one_mistake_behind_many_failures_is_told_once():
    results = [result("x", f"ATT-A-{n}", "fail", diagnosis=[MISTAKE]) for n in range(5)]
    wrong = [text for label, text in told(record("x", results)) if label == "wrong"]
    assert wrong == ["the scores are not divided by √E (ATT-A-0, ATT-A-1, ATT-A-2, …)"]


def test_recommendations_come_last_with_their_mending_and_what_is_lacking_is_said():
    results = [
        result("x", "ATT-PREC-2", "fail", strength="SHOULD", check="it_is_precise", advice=LOOK),
        result("x", "ATT-DROP-1", "unsupported", message="no dropout"),
        result("x", "ATT-SCALE-1"),
    ]
    content = record("x", results, verdict="incomplete")
    content["verdicts"][0]["reason"] = "1 required not supported (no dropout)"
    assert summary(content)[1:] == [
        "wrong: nothing; not shown: 1 required not supported (no dropout)",
        "next:  declare or support what is not shown, or choose a --profile that does not ask for it",
        "",
        "could be better: 1 recommendation, no part of the verdict but for --strict",
        "  ATT-PREC-2 (precise): does not hold: it is precise",
        "    try:   hidden keys still get weight",
        "    where: somewhere in forward(), homework.py:14–26",
    ]


def test_a_recommendation_is_wrong_where_it_is_asked_for():
    recommended = result("x", "ATT-PREC-2", "fail", strength="SHOULD", check="it_is_precise")
    content = record("x", [result("x", "ATT-SCALE-1"), recommended])
    assert told(content)[0] == ("wrong", "nothing")
    recommended["counts"] = True
    assert told(content)[0] == ("wrong", "does not hold: it is precise (ATT-PREC-2)")


def test_a_known_deviation_is_not_to_be_repaired():
    known = {"reason": "as published", "link": "https://example.org"}
    assert told(record("x", [result("x", "ATT-SCALE-1", "fail", deviation=known)])) == [
        ("wrong", "nothing but what is known, with its reason, above: ATT-SCALE-1"),
        ("next", "--thorough explores further; --blind-spots shows lines that no check ran"),
    ]


def test_what_cannot_be_judged():
    content = record("x", [])
    content["implementations"][0]["components"] = []
    content["verdicts"] = [
        {
            "implementation": "x",
            "component": None,
            "verdict": "not-gradable",
            "reason": "line 3: bad",
            "counts": {},
            **NO_MORE,
        }
    ]
    assert told(content) == [
        ("wrong", "nothing was judged"),
        ("why", "line 3: bad"),
        ("next", "mend what keeps it from being judged, and run again"),
    ]  # fmt: skip
    content["verdicts"][0] |= {"verdict": "incomplete", "reason": "only a selection was judged"}
    assert told(content)[1] == ("why", "only a selection was judged")


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
    lines = summary(of_one_file(WRONG, RIGHT))
    wrong = summary(WRONG)[1:]
    assert lines == ["", "wrong", *wrong, "", "right", *summary(RIGHT)[1:]]


def test_what_cannot_be_judged_beside_what_can():
    lost = record("lost", [])
    lost["implementations"][0]["components"] = []
    lost["verdicts"] = [
        {
            "implementation": "lost",
            "component": None,
            "verdict": "not-gradable",
            "reason": "line 3",
            "counts": {},
            **NO_MORE,
        }
    ]
    assert summary(of_one_file(RIGHT, lost))[-4:-1] == ["lost", "wrong: nothing was judged", "why:   line 3"]


def test_it_stands_at_the_end():
    assert page(WRONG)[-5:] == summary(WRONG)[1:]
