"""Right implementations in unusual hands are judged right, one for each component of positions and coordinates."""

import pytest

from attnconf.conformance.chapters.contents import check_of
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.run.implementations import load
from attnconf.spec import profiles

RIGHT = load("tests/miniatures/positions_right.py")[0]


@pytest.mark.parametrize("component", RIGHT.components)
def test_it_is_right(component):
    for entry in profiles.load("core-3").entries:
        if entry.component == component and entry.lens == "direct":
            judged = judge_requirement(Subject(RIGHT, component, "direct"), check_of(entry.requirement, component))
            assert judged.outcome == "pass" or (judged.outcome == "unsupported" and entry.optional), judged.message
