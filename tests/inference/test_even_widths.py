"""A table of pairs has no odd width: a model with one is asked for even widths alone."""

from pathlib import Path

from attnconf.conformance import inference
from attnconf.conformance.engine.requirement import as_declared
from attnconf.conformance.inference.texts.layer_requests import FIRST, Manner
from attnconf.conformance.source.reader import read

SUBMISSIONS = Path(__file__).parents[1] / "submissions"


def test_what_cannot_be_built_in_an_odd_width_says_so() -> None:
    found, _ = inference.bindings(read(SUBMISSIONS / "right" / "lay_waves_in_pairs.py"), "CaptionDecoder", None)
    assert [bound.draft.declares["model-width"] for bound in found] == ["2"]


def test_cases_move_to_widths_that_are_declared() -> None:
    odd = FIRST.but(heads=3, head_width=5)
    for step, head in (("2", 6), ("24", 8), ("96", 32)):
        assert as_declared(odd, Manner("encoder", {"model-width": step})).head_width == head
    assert as_declared(odd.but(heads=4), Manner("encoder", {"model-width": "2"})).head_width == 5
    assert as_declared(odd, Manner("encoder", {"model-width": "24", "hidden-ratio": "8/3"})).hidden == 64
