"""`attnconf diff`: what got worse, vanished, appeared or got better between two results files."""

import copy
import json

import pytest
from made_records import DEVIATION, MISTAKE, record, result

from attnconf import cli
from attnconf.reports.diff import changes, page, text


def one(name="mine", verdict="conformant", **outcomes):
    """Return a record with these requirements: "pass", "fail", "SHOULD", "known", "follows" or "unsupported"."""
    made = {
        "SHOULD": {"outcome": "fail", "strength": "SHOULD"},
        "known": {"outcome": "fail", "deviation": DEVIATION},
        "follows": {"outcome": "fail", "follows_from": ["ATT-A-1"]},
        "unsupported": {"outcome": "unsupported", "message": "no <dropout>"},
    }
    results = [result(name, f"ATT-{key}-1", **made.get(o, {"outcome": o})) for key, o in outcomes.items()]
    return record(name, results, verdict=verdict)


def difference(before, after):
    return changes.difference([("a.json", before), ("b.json", after)])


def seen(found):
    return {(c.kind, c.what, c.before, c.after) for c in found.changes}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("pass", "fail", "worse"),
        ("fail", "pass", "better"),
        ("pass", "SHOULD", "worse"),
        ("pass", "unsupported", "worse"),
        ("unsupported", "pass", "better"),
        ("known", "fail", "worse"),
        ("fail", "known", "better"),
        ("known", "pass", "better"),
        ("not-applicable", "fail", "worse"),
        ("fail", "follows", None),
        ("pass", "pass", None),
    ],
)
def test_what_becomes_of_one_requirement(old, new, kind):
    found = difference(one(A=old), one(A=new))
    assert [c.kind for c in found.changes] == ([kind] if kind else [])
    assert len(found.regressions) == (kind == "worse")
    assert found.same == (kind is None)


def test_what_is_no_longer_judged_is_a_regression_unless_the_suite_is_another():
    before, after = one(A="pass", B="pass"), one(A="pass")
    assert seen(difference(before, after)) == {("vanished", "ATT-B-1", "passes", "")}
    assert difference(before, after).regressions
    after["suite"]["version"] = "0.2.0"
    found = difference(before, after)
    assert not found.regressions
    assert found.notes == ["The files differ in their versions of the suite: 0.1.0, 0.2.0."]


def test_what_is_new_is_no_regression_whatever_it_says():
    found = difference(one(A="pass"), one(A="pass", B="fail"))
    assert seen(found) == {("appeared", "ATT-B-1", "", "fails")}
    assert not found.regressions


def test_a_verdict_that_fell_is_a_regression():
    found = difference(one(A="pass"), one(A="pass", verdict="incomplete"))
    assert seen(found) == {("worse", "verdict", "conformant", "incomplete")}
    assert found.regressions


def test_a_requirement_is_the_same_through_whichever_lens_it_is_judged():
    """As where a class learns to attend to a memory: ``forward(x)`` becomes ``forward(x, y=None)``."""
    before, after = one(A="pass", B="fail"), one(A="fail", B="fail", C="pass")
    for record_of_one, lens in ((before, "self"), (after, "memory")):
        for r in record_of_one["results"]:
            r["lens"] = lens
    found = difference(before, after)
    assert seen(found) == {("worse", "ATT-A-1", "passes", "fails"), ("appeared", "ATT-C-1", "", "passes")}
    assert (len(found.regressions), found.same) == (1, 1)


def test_of_several_lenses_the_worst_result_counts():
    after = one(A="pass", B="fail")
    after["results"][0] |= {"lens": "heads"}
    after["results"][1] |= {"lens": "direct", "requirement": "ATT-A-1"}
    assert seen(difference(one(A="pass"), after)) == {("worse", "ATT-A-1", "passes", "fails")}


LEFT_OUT = ("judged", "not judged (a selection)")


def partly(record_of_one, how):
    """Return a record of which a part was judged: "cut short", or "selected"."""
    if how == "cut short":
        return record_of_one | {"complete": False, "planned": 9}
    return record_of_one | {"suite": {**record_of_one["suite"], "selected": True}}


@pytest.mark.parametrize("how", ["cut short", "selected"])
def test_what_an_interruption_or_a_selection_left_out_is_neither_progress_nor_a_regression(how):
    whole = one(A="fail", B="pass", C="fail", verdict="nonconformant")
    part = partly(one(A="fail", verdict="incomplete"), how)
    left_out = ("judged", f"not judged ({'a selection' if how == 'selected' else how})")
    for records, states in (((whole, part), left_out), ((part, whole), left_out[::-1])):
        found = difference(*records)
        assert seen(found) == {("unjudged", "2 requirements", *states)}
        assert found.same == 1
        assert not found.regressions
        assert text.counts(found) == "no regression in what both have judged: 1 as before"


def test_a_verdict_of_a_run_that_was_cut_short_is_compared_with_none():
    failing = one(A="fail", verdict="nonconformant")
    cut = failing | {"complete": False}  # at the very end
    for records in ((failing, cut), (cut, failing)):
        assert seen(difference(*records)) == set()
    found = difference(one(A="pass", B="pass"), partly(one(A="pass"), "cut short"))
    assert "INCOMPLETE: b.json is from a run that was cut short. 1 of 9" in found.notes[0]


def test_what_a_part_shows_to_be_worse_is_a_regression():
    for how in ("cut short", "selected"):
        found = difference(one(A="pass", B="pass"), partly(one(A="fail", verdict="nonconformant"), how))
        assert [(c.kind, c.what) for c in found.regressions] == [("worse", "ATT-A-1")]


def test_of_one_selection_the_verdicts_are_compared():
    fell = partly(one(A="pass", verdict="nonconformant"), "selected")  # an argument has no effect, say
    assert difference(partly(one(A="pass", verdict="incomplete"), "selected"), fell).regressions


def test_a_selection_of_other_cases_says_nothing_of_those_that_it_left_out():
    whole, part = one(A="fail"), partly(one(A="pass"), "selected")
    whole["results"][0]["cases"].append({**part["results"][0]["cases"][0], "name": "readable-1"})
    part["results"][0]["cases"][0]["name"] = "readable-1"
    assert seen(difference(whole, part)) == {("unjudged", "1 requirement", *LEFT_OUT)}
    assert seen(difference(part, whole)) == {("unjudged", "1 requirement", *LEFT_OUT[::-1])}
    whole["results"][0]["cases"][1]["outcome"] = "fail"
    assert seen(difference(part, whole)) == {("worse", "ATT-A-1", "passes", "fails")}


def test_a_component_that_a_selection_left_out_has_not_vanished():
    two = copy.deepcopy(one(A="pass"))
    two["results"].append({**two["results"][0], "component": "rotary"})
    two["verdicts"].append({**two["verdicts"][0], "component": "rotary"})
    found = difference(two, partly(one(A="pass"), "selected"))
    assert [(c.kind, c.component, c.what) for c in found.changes] == [("unjudged", "rotary", "1 requirement")]


def test_what_could_not_be_loaded_and_now_can_is_no_regression():
    broken = one(verdict="not-gradable")
    broken["verdicts"][0]["component"] = None
    found = difference(broken, one(A="pass"))
    assert [(c.kind, c.component) for c in found.changes] == [("better", ""), ("appeared", "attention")]
    assert not found.regressions
    assert difference(one(A="pass"), broken).regressions


def test_a_component_or_an_implementation_is_one_line():
    two = copy.deepcopy(one(A="pass"))
    two["results"].append({**two["results"][0], "component": "rotary"})
    two["verdicts"].append({**two["verdicts"][0], "component": "rotary"})
    assert seen(difference(two, one(A="pass"))) == {("vanished", "", "conformant", "")}
    both = one(A="pass")
    for key, entries in one("other", A="pass").items():
        both[key] = both[key] + entries if isinstance(entries, list) else both[key]
    found = difference(both, one(A="pass"))
    assert [(c.kind, c.implementation) for c in found.regressions] == [("vanished", "other")]


def test_one_file_and_another_are_compared_whatever_their_names():
    found = difference(one("mine_1", A="fail"), one("mine_2", A="pass"))
    assert [(c.kind, c.implementation) for c in found.changes] == [("better", "mine_2")]


@pytest.fixture
def files(tmp_path):
    before = one(A="pass", B="SHOULD", C="pass")
    after = one(A="fail", B="pass", D="unsupported", verdict="nonconformant")
    after["results"][0]["diagnosis"] = [MISTAKE]
    for name, content in (("before", before), ("after", after)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def run(files, *arguments):
    return cli.main(["diff", *(a if a == "-o" else str(files / a) for a in arguments)])


def test_the_text(files, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(files, "before.json", "after.json") == 1
    assert capsys.readouterr().out.splitlines() == [
        "from before.json to after.json",
        "",
        "WORSE: mine (attention)",
        "  verdict        conformant -> nonconformant: r",
        "  ATT-A-1        passes -> fails: the scores are not divided by √E",
        "",
        "NO LONGER JUDGED: mine (attention)",
        "  ATT-C-1        passes",
        "",
        "NEW: mine (attention)",
        "  ATT-D-1        unsupported: no <dropout>",
        "",
        "BETTER: mine (attention)",
        "  ATT-B-1        not met -> passes",
        "",
        "3 regressions: 2 worse, 1 no longer judged, 1 new, 1 better, 0 as before",
    ]


def test_the_same_file_has_not_changed(files, capsys):
    assert run(files, "before.json", "before.json") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no regression: 3 as before"


def test_as_markdown(files, capsys):
    assert run(files, "before.json", "after.json", "-o", "changes.md") == 1
    assert capsys.readouterr().out.startswith("3 regressions: ")
    written = (files / "changes.md").read_text(encoding="utf-8")
    assert "## Worse" in written
    assert "<details><summary>Better: 1</summary>" in written
    assert "no &lt;dropout>" in written


def test_as_a_page(files):
    assert run(files, "before.json", "after.json", "-o", "changes.html") == 1
    written = (files / "changes.html").read_text(encoding="utf-8")
    assert "no &lt;dropout&gt;" in written
    assert "homework.py:12" in written  # the failure behind it


def test_a_form_that_is_not_known_is_refused(files, capsys):
    assert run(files, "before.json", "after.json", "-o", "changes.txt") == 2
    assert run(files, "before.json", "nowhere.json") == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_what_a_file_says_cannot_steer_the_terminal():
    after = one(A="fail")
    after["results"][0]["message"] = "\x1b[31m<b>\u202e"
    found = difference(one(A="pass"), after)
    for written in ("\n".join(text.lines(found, 120)), text.markdown(found), page.page(found)):
        assert "\x1b" not in written
        assert "\u202e" not in written
    assert "<b>\n" not in page.page(found)
