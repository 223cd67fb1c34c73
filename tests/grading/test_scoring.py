"""What a submission earns: nothing but by results that pass, and never more for what is absent."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grade_records import MISTAKE, record, result, results

from attnconf.conformance.grading.rubric import Item, Rubric, Wanted
from attnconf.conformance.grading.scoring import STATUSES, Planned, grade
from attnconf.spec import profiles, registry

SCORES = ("ATT-SHIFT-1", "ATT-SCORE-1", "ATT-SCALE-1")
CALLS = ("CALL-SHAPE-1", "CALL-DTYPE-1")
ROBUST = ("ATT-ERROR-1",)
EVERYTHING = (*SCORES, *CALLS, *ROBUST)
PLAN = [Planned("attention", name, name in SCORES) for name in EVERYTHING]


def rubric(*items, **changes):
    items = items or (Item("Scores", 6, "attention", SCORES), Item("Calls", 4, "attention", (*CALLS, *ROBUST)))
    return Rubric("T", (Wanted("attention"),), items, "core-3", **changes)


def all_but(words=None, **changes):
    """Return results of which all pass but those with a word of their own."""
    return [result(name, (words or {}).get(name, "pass"), **changes) for name in EVERYTHING]


def graded(judged, by=None, plan=PLAN, **changes):
    return grade(by or rubric(), plan, record(results(judged, **changes)))


def points(judged, by=None, **changes):
    one = graded(judged, by, **changes)
    assert one.score == pytest.approx(sum(item.earned for item in one.items))
    return one.score


def statuses(one):
    return {part.requirement: part.status for item in one.items for part in item.parts}


def test_what_passes_earns_its_points():
    one = graded(all_but())
    assert (one.submission, one.file, one.score, one.points) == ("ada", "ada/hw.py", 10, 10)
    assert (one.status, one.message, one.notes, one.for_instructor) == ("judged", "", ("names x (hw.py:1)",), ())
    assert one.verdicts == ("attention: incomplete (so it is)",)
    assert [(item.status, item.reason) for item in one.items] == [("full", "")] * 2
    part = one.items[0].parts[2]
    known = registry.get("ATT-SCALE-1")
    assert (part.status, part.earned, part.sentence, part.spec) == ("passed", 1, known.sentence, known.anchor)


def test_a_failure_is_told_with_its_mistake():
    failed = result("ATT-SCALE-1", "value", diagnosis=[MISTAKE], follows_from=["ATT-SCORE-1"])
    one = graded([*all_but()[:2], failed, *all_but()[3:]])
    part = one.items[0].parts[2]
    assert (part.status, part.earned, part.message) == ("value", 0, "it is value")
    assert (part.mistake, part.story, part.hint) == ("ATT-unscaled", "the scores are not divided", "divide them")
    assert (part.where, part.follows_from) == ("hw.py:12", ("ATT-SCORE-1",))
    scores = one.items[0]
    assert (scores.earned, scores.status, scores.reason) == (4, "partial", "2 of 3 requirements hold")


def test_two_mistakes_together_and_advice_are_told():
    other = MISTAKE | {"mutants": ["ATT-other"], "story": "it is other", "hint": "mend it", "where": None}
    advice = {"story": "b is ignored", "hint": None, "where": "somewhere"}
    one = graded(
        [result("ATT-SHIFT-1", "value", diagnosis=[other, MISTAKE]), result("ATT-SCORE-1", "value", advice=advice)]
    )
    both, advised, _ = one.items[0].parts
    assert (both.mistake, both.story) == ("ATT-other + ATT-unscaled", "it is other; and the scores are not divided")
    assert both.where == "hw.py:12"
    assert (advised.mistake, advised.story, advised.hint, advised.where) == ("", "b is ignored", "", "somewhere")


@pytest.mark.parametrize("word", ["value", "timeout", "unsupported", "not-applicable", "not-run"])
def test_what_does_not_pass_earns_nothing(word):
    assert points(all_but({"ATT-SCALE-1": word})) == 8


def test_what_is_missing_has_failed():
    assert points(all_but()[:-1]) == 8.67
    assert statuses(graded(all_but()[:-1]))["ATT-ERROR-1"] == "not-judged"
    nothing = graded([], verdicts={("hw.py", None): "not-gradable"})
    assert (nothing.score, nothing.verdicts) == (0, ("attention: no attention was found",))
    assert nothing.items[0].reason == "0 of 3 requirements hold: none was found in the submission"


def test_what_is_not_in_the_plan_earns_nothing_and_is_not_asked():
    assert points([*all_but(), result("ATT-ROWS-1")]) == 10
    some = [one for one in PLAN if one.requirement not in ("ATT-SHIFT-1", "CALL-SHAPE-1")]
    assert points(all_but({"ATT-SHIFT-1": "value"}), plan=some) == 10
    one = graded(all_but(), plan=[one for one in PLAN if one.requirement in SCORES])
    assert (one.score, one.items[1].status, one.items[1].reason) == (6, "none", "nothing of it can be judged")


def test_what_is_not_settled_earns_nothing():
    unsettled = result("ATT-SCALE-1", settled=False)
    one = graded([*all_but()[:2], unsettled, *all_but()[3:]])
    assert (one.score, statuses(one)["ATT-SCALE-1"]) == (8, "unrecognised")


def test_nothing_is_earned_unless_something_telling_passes():
    one = graded(all_but(dict.fromkeys(SCORES, "value")))
    assert one.score == 0
    assert statuses(one) == dict.fromkeys(SCORES, "value") | dict.fromkeys((*CALLS, *ROBUST), "empty")
    assert one.for_instructor == ("attention: 3 requirements pass, all of which code passes that computes nothing",)
    assert points(all_but({"ATT-SCALE-1": "value", "ATT-SHIFT-1": "value"})) == 6


def test_the_suite_s_own_fault_earns_nothing_and_is_told_to_the_instructor():
    one = graded(all_but({"ATT-SCALE-1": "error"}))
    assert (one.score, statuses(one)["CALL-SHAPE-1"]) == (0, "error")
    assert one.for_instructor == ("look at it yourself: attention: not-gradable (so it is)",)


def test_what_is_not_recognised_earns_nothing_or_what_telling_laws_earn():
    unknown = {("hw.py", "attention"): "unrecognised"}
    one = graded(all_but(), verdicts=unknown)
    assert (one.score, set(statuses(one).values())) == (0, {"unrecognised"})
    assert one.for_instructor == ("look at it yourself: attention: unrecognised (so it is)",)
    laws = rubric(unrecognised="laws")
    one = graded(all_but({"ATT-SHIFT-1": "value"}), laws, verdicts=unknown)
    assert (one.score, statuses(one)["ATT-SCALE-1"], statuses(one)["CALL-SHAPE-1"]) == (4, "passed", "unrecognised")
    assert points(all_but(dict.fromkeys(SCORES, "value")), laws, verdicts=unknown) == 0
    shoulds = [replace(one, telling=True) for one in PLAN]
    assert points(all_but(dict.fromkeys(EVERYTHING[:5], "value")), laws, plan=shoulds, verdicts=unknown) == 0


def test_all_lenses_have_to_pass():
    twice = [*all_but(), result("ATT-SCALE-1", "value", lens="other")]
    assert points(twice) == 8
    assert points([*all_but(), result("ATT-SCALE-1", lens="other")]) == 10


def test_no_profile_judges_a_requirement_on_a_component_through_two_lenses():
    """Of what was cut short nobody could tell that one of two results is lacking."""
    for name in profiles.names():
        seen = [(entry.component, entry.requirement) for entry in profiles.load(name).entries]
        assert len(seen) == len(set(seen))


def test_of_several_that_offer_a_component_the_worst_counts():
    good, bad = all_but(implementation="hw.py:Good"), all_but({"ATT-SCALE-1": "value"}, implementation="hw.py:Bad")
    one = graded([*good, *bad])
    assert one.score == 8
    assert one.verdicts == (
        "attention, hw.py:Good: incomplete (so it is)", "attention, hw.py:Bad: nonconformant (so it is)",
    )  # fmt: skip
    assert "the rubric can name a class" in one.for_instructor[0]
    assert points([*good, *bad[:-1]]) == 6.67  # what one lacks, the component lacks
    unknown = {("hw.py:Bad", "attention"): "unrecognised"}
    assert points([*good, *bad], verdicts=unknown) == 0


@pytest.mark.parametrize("name", ["hw.py:Good", "hw.py:Good@attention"])
def test_a_class_that_the_rubric_names_is_graded_alone(name):
    by = replace(rubric(), wanted=(Wanted("attention", "Good"),))
    bad = all_but({"ATT-SCALE-1": "value"}, implementation="hw.py:Bad")
    assert points([*all_but(implementation=name), *bad], by) == 10
    one = graded(bad, by)
    assert (one.score, one.verdicts) == (0, ("attention: no attention called Good was found",))


def test_all_or_nothing_and_thresholds():
    worse = all_but({"ATT-SCALE-1": "value"})
    strict = rubric(Item("Scores", 6, "attention", SCORES, all_or_nothing=True))
    one = graded(worse, strict)
    assert (one.score, one.items[0].reason) == (0, "2 of 3 requirements hold, and all have to")
    assert points(all_but(), strict) == 6
    assert points(worse, rubric(Item("Scores", 6, "attention", SCORES, threshold=2 / 3))) == 4
    one = graded(worse, rubric(Item("Scores", 6, "attention", SCORES, threshold=0.7)))
    assert (one.score, one.items[0].status) == (0, "none")
    assert one.items[0].reason == "2 of 3 requirements hold, and 70% of them have to"


def test_cases_earn_in_part_up_to_a_cap():
    worse = all_but({"ATT-SCALE-1": "value"})  # a quarter of its cases passes
    item = Item("Scores", 6, "attention", SCORES, partial=True)
    one = graded(worse, rubric(item))
    assert (one.score, one.items[0].parts[2].earned, one.items[0].parts[2].status) == (4.5, 0.25, "value")
    assert one.items[0].reason == "2 of 3 requirements hold, and some cases of 1 more"
    assert points(worse, rubric(replace(item, cap=0.1))) == 4.2
    assert points(all_but({"ATT-SCALE-1": "unsupported"}), rubric(item)) == 4
    assert points(all_but(dict.fromkeys(SCORES, "value")), rubric(item)) == 0  # nothing telling passes


def test_an_item_that_needs_another_is_blocked():
    items = Item("A", 1, "attention", SCORES), Item("B", 2, "attention", CALLS, needs=("A",)), Item(
        "C", 3, "attention", ROBUST, needs=("B",)
    )  # fmt: skip
    assert points(all_but(), rubric(*items)) == 6
    one = graded(all_but({"ATT-SCALE-1": "value"}), rubric(*items))
    assert [item.status for item in one.items] == ["partial", "blocked", "blocked"]
    assert (one.score, one.items[2].reason) == (0.67, "it needs all points of B")
    assert {part.status for item in one.items[1:] for part in item.parts} == {"blocked"}


def test_only_all_requirements_earn_all_points():
    item = Item("Little", 0.01, "attention", SCORES)
    one = graded(all_but({"ATT-SCALE-1": "value"}), rubric(item))
    assert (one.score, one.items[0].status) == (0, "none")


@pytest.mark.parametrize(
    ("status", "said"),
    [("timeout", "timeout"), ("crashed", "crashed"), ("out-of-memory", "out-of-memory"), ("error", "error"),
     ("refused", "not-judged"), ("empty", "not-judged"), ("not-gradable", "not-judged")],
)  # fmt: skip
def test_what_could_not_be_judged_earns_nothing(status, said):
    one = grade(rubric(), PLAN, record(None, status))
    assert (one.score, one.status, one.message, set(statuses(one).values())) == (0, status, f"it was {status}", {said})
    assert one.items[0].reason == f"0 of 3 requirements hold: it was {status}"


@pytest.mark.parametrize("status", ["refused", "empty", "not-gradable", "error"])
def test_results_of_what_was_refused_are_not_read(status):
    assert grade(rubric(), PLAN, record(results(all_but()), status)).score == 0


def test_what_was_judged_before_the_time_was_over_counts():
    cut = results(all_but()[:-1], complete=False, planned=6)
    one = grade(rubric(), PLAN, record(cut, "timeout"))
    assert (one.score, one.status) == (8.67, "timeout")
    cut["verdicts"] = []
    one = grade(rubric(), PLAN, record(cut, "timeout"))
    assert (one.score, set(statuses(one).values())) == (0, {"not-judged"})


ODD = [
    None, [], {}, "text", {"schema": "attnconf-grade/1"}, record(None), record([]), record({}), record("x"),
    record(results(all_but()), "fine"), record(results(all_but()), schema="attnconf-grade/9"),
    record(results(all_but()), notes=None),
    record(results(all_but()), submission=7), record(results(all_but()) | {"more": 1}),
    record(results(all_but()) | {"planned": 99}), record(results(all_but()) | {"verdicts": []}),
    record(results([*all_but(), result("ATT-SCALE-1", cases=[{}])])),
    record(results([result("ATT-SCALE-1", settled="yes")])), record({"schema": {1, 2}}),
    record(results(all_but(), {("hw.py", "attention"): "nonconformant"})),
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_a_record_that_is_none_earns_nothing(odd):
    one = grade(rubric(), PLAN, odd)
    assert (one.score, one.points, one.status) == (0, 10, "error")
    assert {part.status for item in one.items for part in item.parts} == {"error"}
    assert one.for_instructor[0].startswith("the record of this submission cannot be used: ")
    assert one.notes == ()


WORDS = ("pass", "value", "raised", "timeout", "unsupported", "not-applicable", "not-run")
NAMES = ("hw.py:A", "hw.py:B")
SETTLED = st.sampled_from([True, True, True, False])
JUDGED = st.lists(
    st.tuples(st.sampled_from(EVERYTHING), st.sampled_from(WORDS), st.sampled_from(NAMES), SETTLED),
    unique_by=lambda one: (one[0], one[2]),
).map(lambda drawn: [result(r, word, implementation=name, settled=settled) for r, word, name, settled in drawn])
ITEMS = st.builds(
    lambda strict, threshold, partial, cap, needs, unrecognised: rubric(
        Item("A", 6, "attention", SCORES, strict, (), threshold, partial, cap),
        Item("B", 4.01, "attention", (*CALLS, *ROBUST), False, ("A",) if needs else (), 0.0, partial, cap),
        unrecognised=unrecognised,
    ),
    st.booleans(), st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.sampled_from([0.0, 0.1, 1.0]), st.booleans(),
    st.sampled_from(["nothing", "laws"]),
)  # fmt: skip
VERDICTS = st.sampled_from([None, "unrecognised"]).map(
    lambda v: {(name, "attention"): v for name in NAMES} if v else None
)


def cut_short(judged, verdicts):
    """Return a record of which results may be lacking without a contradiction; both classes were found."""
    own = results(judged, {(name, "attention"): None for name in NAMES} | (verdicts or {}), False, 99)
    return record(own, "timeout")


def score(by, judged, verdicts):
    one = grade(by, PLAN, cut_short(judged, verdicts))
    assert 0 <= one.score <= one.points
    assert one.score == round(sum(item.earned for item in one.items), 2)
    assert all(0 <= item.earned <= item.points for item in one.items)
    assert {part.status for item in one.items for part in item.parts} <= set(STATUSES)
    assert [part.requirement for item in one.items for part in item.parts] == list(EVERYTHING)
    assert one.status == "timeout"
    return one.score


@settings(max_examples=60, deadline=None)
@given(ITEMS, JUDGED, VERDICTS, st.data())
def test_a_score_never_rises_because_something_is_absent_or_does_not_pass(by, judged, verdicts, data):
    before = score(by, judged, verdicts)
    if not judged:
        return
    at = data.draw(st.integers(0, len(judged) - 1))
    assert score(by, judged[:at] + judged[at + 1 :], verdicts) <= before
    if judged[at]["outcome"] == "pass":
        for word in WORDS:
            same = {key: judged[at][key] for key in ("implementation", "settled")}
            other = result(judged[at]["requirement"], word, **same)
            assert score(by, [*judged[:at], other, *judged[at + 1 :]], verdicts) <= before


def test_grading_changes_nothing_of_the_record():
    own = record(results(all_but({"ATT-SCALE-1": "value"})))
    before = deepcopy(own)
    assert grade(rubric(), PLAN, own) == grade(rubric(), PLAN, own)
    assert own == before


def test_what_is_not_offered_is_said_to_be_that_and_nothing_failed():
    """In words of its author, with a word to the instructor, whose rubric may ask for too much."""
    judged = all_but({"ATT-SCALE-1": "not-applicable"})
    for one in judged:
        if one["requirement"] == "ATT-SCALE-1":
            one["message"] = "the lens 'direct-self' on attention offers no output-projection"
    got = grade(rubric(), PLAN, record(results(judged)))
    (part,) = [p for item in got.items for p in item.parts if p.requirement == "ATT-SCALE-1"]
    assert (part.status, part.earned) == ("not-applicable", 0)
    assert part.message == "not offered: output projection"
    assert any("is not offered (output projection)" in line for line in got.for_instructor)
