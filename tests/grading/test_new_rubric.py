"""A rubric to start from is one that is read without a word, and asks for what a solution passes."""

import pytest

from attnconf.conformance.grading import new_rubric, rubric_text
from attnconf.conformance.grading.rubric import RubricError
from attnconf.conformance.grading.selecting import asked
from attnconf.spec import profiles

COMPONENTS = dict.fromkeys(entry.component for entry in profiles.load(profiles.DEFAULT).entries)


def ids(rubric):
    return [name for item in rubric.items for name in item.requirements]


@pytest.mark.parametrize("component", COMPONENTS)
def test_it_is_a_rubric_of_a_hundred_points(component):
    rubric = rubric_text.parse(new_rubric.text(component), "new")
    assert (rubric.points, [one.component for one in rubric.wanted]) == (100, [component])
    there = {name for name, one in asked("core-3", component).items() if one.chapter not in new_rubric.RARE}
    assert sorted(ids(rubric)) == sorted(there)
    assert all(item.points >= 1 and item.points == int(item.points) for item in rubric.items)


def test_sections_weigh_by_their_requirements_and_qualities_little():
    rubric = rubric_text.parse(new_rubric.text("rotary"), "new")
    points = {item.name: item.points for item in rubric.items}
    assert (points["Robust"], points["Precise"]) == (5, 5)
    assert points["Rotary: the rotation"] == max(points.values())
    assert next(iter(points)) == "Rotary: the rotation"
    assert list(points)[-3:] == ["Calls: what does not matter", "Robust", "Precise"]


def test_what_a_solution_does_not_pass_is_left_out_and_said():
    passes = ["ROPE-NORM-1", "ROPE-PAIR-1", "CALL-MODE-1", "ROPE-ODD-1"]
    text = new_rubric.text("rotary", passes)
    rubric = rubric_text.parse(text, "new")
    assert sorted(ids(rubric)) == sorted(passes)
    assert rubric.points == 100
    assert text.count("\n# some of it is left out, see the end\n") == 2
    assert text.count("ROPE-LINEAR-1") == 1
    assert "# Left out: the solution does not pass it\n#   ROPE-LINEAR-1  " in text
    assert (
        '[[item]]\nname = "Calls: what does not matter"\npoints = 32\nsection = "calls/What does not matter"\n' in text
    )


def test_what_most_attention_has_none_of_comes_in_by_a_solution_alone():
    assert "#   FAM-GROUP-1  " in new_rubric.text("multi_head_attention")
    text = new_rubric.text("multi_head_attention", ["FAM-GROUP-1", "MHA-OUT-1"])
    assert "FAM-GROUP-1" in ids(rubric_text.parse(text, "new"))


def test_what_no_rubric_can_be_written_for_is_told():
    with pytest.raises(RubricError, match=r"^no component 'rotry'; nearest: rotary$"):
        new_rubric.text("rotry")
    with pytest.raises(RubricError, match=r"^the solution passes nothing that is asked of rotary"):
        new_rubric.text("rotary", ["ATT-SCALE-1"])
