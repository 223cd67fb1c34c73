"""What is wanted of one model is not taken for what is wanted of another that takes other masks."""

from pathlib import Path

from attnconf.conformance.run import implementations, judge

FOLDER = Path(__file__).resolve().parents[1] / "submissions" / "right"


def test_a_model_that_takes_masks_is_judged_behind_one_that_makes_them():
    files = ("lay_seq_first_ids.py", "lay_two_sides_cloned.py")
    judged = judge([i for name in files for i in implementations.load(str(FOLDER / name))])
    outcomes = [one.outcome for one in judged.outcomes.values() if one.requirement.id == "TRF-ORACLE-1"]
    assert outcomes == ["pass", "pass"]
