"""A case from one end to the other, on a clock that only the tests move."""

import gc
import json
import math

import pytest
import torch
from fake_time import FakeTime, FixedClock

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.run.implementations import load
from attnconf.conformance.timing import anchors, integrity, measuring
from attnconf.conformance.timing import record as telling
from attnconf.conformance.timing.accuracy import Tier
from attnconf.conformance.timing.clock import Sample
from attnconf.conformance.timing.grid import PASSES, TimedCase
from attnconf.conformance.timing.measuring import AGAIN, time_case
from attnconf.conformance.timing.problem import Problem
from attnconf.conformance.timing.rounds import Rules

RULES = Rules(min_rounds=8, min_seconds=0.0, warm_up=0.0, sample=2e-3)
CASES = (
    TimedCase("attention", "attention", B=2, H=3, L=8, E=4),
    TimedCase("causal", "attention", B=2, H=3, L=8, E=4, causal=True),
    TimedCase("decode", "attention", B=2, H=3, L=1, S=9, E=4),
    TimedCase("padded", "attention", B=2, H=3, L=8, E=4, padded=True),
    TimedCase("module", "multi_head_attention", B=2, H=3, L=8, E=4),
    TimedCase("layer", "encoder_layer", B=2, H=3, L=8, E=4, hidden=20),
    TimedCase("rotary", "rotary", B=2, H=3, L=8, E=4),
    TimedCase("layer-norm", "layer_norm", B=2, H=3, L=8, E=4),
    TimedCase("rms-norm", "rms_norm", B=2, H=3, L=8, E=4),
)


class CostsInOrder(FixedClock):
    """The first thing that is timed costs the first number of seconds, the second the second, …"""

    def __init__(self, *costs):
        super().__init__()
        self.costs, self.seen = list(costs), {}

    def sample(self, job):
        cost = self.seen.setdefault(id(job.run), self.costs[min(len(self.seen), len(self.costs) - 1)])
        if job.before:
            job.before()
        returned = job()
        if job.after:
            job.after(returned)
        self.time.spend(cost * job.total)
        return Sample(cost, cost)


def reference():
    (found,) = load("reference")
    return found


def in_pass(case, passes):
    return TimedCase(**{**vars(case), "passes": passes})


def record_of(case, *contenders, clock=None, **options):
    found = time_case(case, contenders or [reference()], RULES, clock=clock or FixedClock(), seed=0, **options)
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reference_is_timed_in_every_kind_of_case(case, passes):
    record = record_of(in_pass(case, passes))
    (entry,) = record["contenders"]
    assert (record["status"], entry["status"], entry["verdict"]) == ("timed", "timed", "SAME"), entry["reason"]
    assert entry["flags"] == []
    assert len(entry["samples_s"]) == record["rounds"] == len(record["anchor"]["samples_s"])
    assert entry["ratio"] == pytest.approx(1)
    assert entry["lo"] <= entry["ratio"] <= entry["hi"]
    assert not record["aa"]["void"]


@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: case.name)
@pytest.mark.parametrize("passes", ["forward", "both"])
def test_anchors_are_right_themselves(case, passes):
    problem = Problem(in_pass(case, passes), 0)
    (anchor,) = anchors.anchors("cpu", case.component)
    returned = problem.runner(anchor)(0)
    Tier(problem, reference()).check(problem.of(0).copy(), returned, first=True)


def test_a_wrong_contender_is_found_in_a_part_alone(monkeypatch):
    """What would take too much memory, or time, to compare is compared where the changed row is."""
    monkeypatch.setattr("attnconf.conformance.timing.accuracy.LITTLE", 0)
    problem = Problem(TimedCase("large", "attention", B=2, H=3, L=8, E=4), 0)
    tier = Tier(problem, reference())
    problem.touch(0, 1)
    out = problem.runner(anchors.anchors("cpu", "attention")[0])(0)
    assert tier.check(problem.of(0).copy(), out).error >= 0
    out[problem.row] += 1
    with pytest.raises(Exception, match="out in float32: max error"):
        tier.check(problem.of(0).copy(), out)


def test_conventions_are_no_mistakes():
    """Pairs of features that are declared to lie halves apart are wanted so."""
    from attnconf.conformance.engine.translate import in_conventions

    declares = {"rope-pairing": "half"}
    half = in_conventions(reference(), declares)
    case = TimedCase("rotary", "rotary", B=2, H=3, L=8, E=4)
    (entry,) = record_of(case, half)["contenders"]
    assert entry["status"] == "timed"
    undeclared = Implementation("undeclared", half.components)
    (entry,) = record_of(case, undeclared)["contenders"]
    assert entry["status"] == "not-timed"


def test_the_ratio_is_that_of_the_times():
    record = record_of(CASES[0], clock=CostsInOrder(1e-3, 1e-3, 2e-3))
    (entry,) = record["contenders"]
    assert (entry["ratio"], entry["verdict"]) == (pytest.approx(2), "SLOWER")
    assert entry["fractions"]["anchor"] == pytest.approx(0.5)
    assert entry["median_s"] == pytest.approx(2e-3)
    assert entry["tokens_s"] == pytest.approx(2 * 8 / 2e-3)
    assert entry["tflops"] == pytest.approx(4 * 2 * 3 * 8 * 8 * 4 / 2e-3 / 1e12)


def test_an_anchor_unlike_itself_makes_the_run_void():
    record = record_of(CASES[0], clock=CostsInOrder(1e-3, 1.1e-3, 2e-3))
    assert record["aa"]["void"]
    assert record["aa"]["ratio"] == pytest.approx(1.1)
    assert record["contenders"][0]["verdict"] == "AMBIGUOUS"


def test_where_others_compute_nothing_is_decided():
    record = record_of(CASES[0], disturbed="2 other processes are on the GPU")
    assert record["contenders"][0]["verdict"] == "AMBIGUOUS"
    assert record["disturbed"] == "2 other processes are on the GPU"


def test_what_takes_for_ever_is_not_timed():
    (entry,) = record_of(CASES[0], clock=CostsInOrder(1e-3, 1e-3, 5.2))["contenders"]
    assert (entry["status"], entry["reason"]) == ("not-timed", "not timed: one call takes about 5.2 s")


def test_what_is_much_faster_is_looked_at_again():
    (entry,) = record_of(CASES[0], clock=CostsInOrder(1e-3, 1e-3, 5e-4))["contenders"]
    assert entry["verdict"] == "FASTER"
    assert [flag["code"] for flag in entry["flags"]] == ["looked-at-again"]


def test_what_no_hardware_can_do_is_suspect():
    (entry,) = record_of(CASES[0], clock=CostsInOrder(1e-3, 1e-3, 5e-4), peaks={"gemm": 1e6, "copy": 1e6})["contenders"]
    assert entry["verdict"] == "SUSPECT"
    assert "impossible" in [flag["code"] for flag in entry["flags"]]


def test_fractions_are_of_the_roof():
    case = CASES[0]
    found = telling.fractions(case, 1.0, {"gemm": case.work.flops * 2, "copy": case.work.bytes * 10})
    assert found == {"datasheet": None, "measured": 0.5, "anchor": None, "bound_by": "compute"}


def test_without_an_anchor_nothing_is_timed(monkeypatch):
    monkeypatch.setattr("attnconf.conformance.timing.measuring.anchors", lambda device, component: [])
    assert record_of(CASES[0])["reason"] == "no anchor: there is none"


def test_without_cuda_its_cases_are_not_run(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    record = time_case(TimedCase("a", "attention", B=1, H=2, L=3, E=4, device="cuda"), [reference()])
    assert (record["status"], record["reason"]) == ("not-run", "no CUDA device")


def test_grouped_heads_are_timed_for_the_anchor_alone():
    record = record_of(TimedCase("grouped", "attention", B=2, H=4, kv_heads=2, L=8, E=4))
    assert record["status"] == "timed"
    assert record["anchor"]["median_s"] > 0
    assert record["contenders"][0]["reason"].startswith("not supported: fewer heads of keys")


def test_everything_is_put_back():
    before, collecting = integrity.settings(), gc.isenabled()
    record_of(CASES[0])
    assert (integrity.settings(), gc.isenabled()) == (before, collecting)


def test_the_anchor_races_twice():
    time, seen = FakeTime(), []

    class Clock(FixedClock):
        def sample(self, job):
            seen.append(job.run)
            return super().sample(job)

    record = record_of(CASES[0], clock=Clock(time))
    assert len(set(seen)) == 3
    assert AGAIN not in record["anchor"]["name"]


def samples(seconds, wall=math.nan, waits=0.0, late=0.0, mhz=math.nan, others=0.0):
    return [Sample(seconds, wall, waits, late, mhz, others)] * 9


@pytest.mark.parametrize(
    ("own", "codes"),
    [
        (samples(9e-3, 36e-3, waits=1), []),  # it did, and gained nothing
        (samples(1e-3, 1e-3), []),
        (samples(1e-3, 4e-3, waits=0), []),  # a neighbour took the processor away
        (samples(1e-3, 4e-3, waits=1), ["waits"]),  # it gave the processor up
        (samples(2e-3, 1e-3, others=1e-3), ["several-threads"]),
        (samples(2e-3, 1e-3, others=1e-4), []),
        (samples(1e-3, late=1e-5), []),
        (samples(1e-3, late=1e-3), ["other-stream"]),
    ],
)
def test_samples_tell_on_a_contender(own, codes):
    found = integrity.of_samples(own, samples(1e-3, 1.1e-3))
    assert [flag.code for flag in found if flag.suspect] == codes


def test_a_falling_clock_is_told():
    steady, fallen = samples(1e-3, mhz=1980.0), samples(1e-3, mhz=1200.0)
    assert telling.throttled(steady) == telling.throttled(samples(1e-3)) == []
    assert telling.throttled([*steady, *fallen[:3]])[0].code == "throttled"


@pytest.mark.parametrize("component", ["rotary", "layer_norm", "rms_norm"])
def test_what_only_reads_and_writes_is_held_against_a_copy(component):
    (anchor,) = anchors.anchors("cuda", component)
    assert anchor.name == "copy"


@pytest.mark.parametrize("most", [4, 256])
def test_a_sample_uses_no_set_of_inputs_twice(monkeypatch, most):
    """What is remembered by the inputs' memory would be had for nothing at the second call."""
    monkeypatch.setattr(measuring, "SETS", most)
    clock = CostsInOrder(1e-5)
    entry = time_case(CASES[0], [reference()], RULES, clock=clock, seed=0)
    assert entry["sets"] >= entry["contenders"][0]["inner"] == min(most, 200)
