"""What a case keeps for one file and would be another for the next is noticed, whatever it is."""

import kept_values
import pytest
import torch

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.engine.case import Case

ONE, TWO = torch.ones(2, 3, dtype=torch.float64), torch.full((2, 3), 2.0, dtype=torch.float64)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (ONE, TWO),
        (ONE, ONE[:1]),
        ((ONE, {"q": ONE}), (ONE, {"q": TWO})),
        ((ONE, {"q": ONE}), (ONE, {"k": ONE})),
        (1.0, 2.0),
    ],
)
def test_what_is_kept_and_would_be_another_now_is_told(first, then):
    case = stimuli.ONE[0]
    with kept_values.compared(every=1) as differing:
        case.once("kept in a test", lambda: first)
        case.once("kept in a test", lambda: first)
        assert differing == []
        case.once("kept in a test", lambda: then)
    case._computed.pop("kept in a test")
    assert differing == [f"{case.name}: kept in a test"]


def test_cases_and_calls_are_compared_by_what_they_hold():
    case = stimuli.ONE[0]
    assert kept_values.same(case.but(dtype=torch.float32), Case.but(case, dtype=torch.float32))
    assert not kept_values.same(case.but(dtype=torch.float32), case)
