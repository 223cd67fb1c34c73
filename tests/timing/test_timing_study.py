"""The study's own parts, without its times."""

import runpy
from pathlib import Path

import pytest
from fake_time import FixedClock

from attnconf.conformance.timing.measuring import time_case
from attnconf.conformance.timing.rounds import Rules

STUDY = runpy.run_path(str(Path(__file__).parents[2] / "reports" / "studies" / "throughput_reliability.py"))
RULES = Rules(min_rounds=5, min_seconds=0.0, warm_up=0.0, sample=1e-3)


@pytest.mark.parametrize("make", ["like_the_anchor", "five_per_cent_slower"])
def test_its_contenders_are_right(make):
    (entry,) = time_case(STUDY["CASE"], [STUDY[make]()], RULES, clock=FixedClock(), seed=0)["contenders"]
    assert (entry["status"], entry["flags"]) == ("timed", [])


def test_one_head_more_is_five_per_cent_more():
    case = STUDY["CASE"]
    assert case.B * case.H == 20


def test_the_spread_leaves_out_one_in_twenty():
    ratios = [1.0] * 30 + [1.01] * 4 + [0.99] * 4 + [3.0, 4.0]
    assert STUDY["spread"](ratios) == pytest.approx(0.01)
