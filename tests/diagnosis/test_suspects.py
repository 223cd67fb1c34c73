"""A law of every call is broken by many mistakes: what is said of them is the mistake in the mathematics."""

from attnconf.conformance.chapters.contents import all_mutants
from attnconf.conformance.diagnosis.one_mistake import _chapters_own
from attnconf.conformance.diagnosis.suspects import _near

LAW, MATHEMATICS = "CALL-EMPTY-1", "MHA-QUERY-1"


def test_a_mutant_of_a_law_is_near_wherever_the_law_failed():
    assert _near(all_mutants()["CALL-empty-refused"], {LAW}, {LAW})
    assert not _near(all_mutants()["CALL-empty-refused"], {MATHEMATICS}, {LAW, MATHEMATICS})


def test_a_mutant_of_another_component_is_not_near_for_a_law_alone():
    other = all_mutants()["MHA-memory-ignored"]
    assert {LAW, MATHEMATICS} <= set(other.breaks)
    assert _near(other, {LAW}, {LAW, MATHEMATICS})
    assert not _near(other, {LAW}, {LAW, "LN-MEAN-1"})  # none of its own chapter's requirements is judged there


def test_a_chapters_own_mistake_is_named_before_that_of_a_law():
    law, own = all_mutants()["CALL-in-place"], all_mutants()["ATT-query-overwritten"]
    assert _chapters_own([law, own]) == [own]
    assert _chapters_own([law]) == [law]
