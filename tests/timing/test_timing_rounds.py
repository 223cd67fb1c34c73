"""Rounds on a clock that only tests move: fair order, stop rules, and how often a verdict is wrong."""

import random
import threading

import pytest
import torch
from fake_time import FakeTime

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.timing import intervals
from attnconf.conformance.timing.clock import BUSY, Job, ProcessClock
from attnconf.conformance.timing.rounds import Contender, Rules, Stop, estimate, measure, warm_up

RULES = Rules(min_seconds=0.0)
LOOKS = 100_000  # until what must be seen is seen


def contenders(time, **costs):
    return [Contender(name, lambda i, cost=cost: time.spend(cost)) for name, cost in costs.items()]


def compared(time, rules=RULES, seed=0, **costs):
    found = measure(contenders(time, **costs), "anchor", time.clock(), rules, random.Random(seed))
    return found, found.against("other", "anchor")


def test_every_contender_runs_once_in_every_round_in_changing_order():
    called = []
    time = FakeTime()

    def calling(name):
        return Contender(name, lambda i: (called.append(name), time.spend(1e-3)))

    found = measure([calling(n) for n in "abc"], "a", time.clock(), RULES, random.Random(0))
    rounds = [called[i : i + 3] for i in range(0, len(called), 3)]
    assert len(rounds) == found.number == 20
    assert all(sorted(r) == ["a", "b", "c"] for r in rounds)
    assert len({tuple(r) for r in rounds}) == 6


def test_the_same_seed_gives_the_same_rounds():
    one, other = (compared(FakeTime(0.05, 3), anchor=1e-3, other=1e-3)[0].samples for _ in "ab")
    assert one == other


def test_a_quiet_clock_stops_as_soon_as_it_may():
    found, ratio = compared(FakeTime(), anchor=1e-3, other=2e-3)
    assert (found.number, found.stopped) == (RULES.min_rounds, "narrow")
    assert (ratio.ratio, ratio.lo, ratio.hi) == pytest.approx((2, 2, 2))


def test_enough_seconds_are_measured():
    found, _ = compared(FakeTime(), Rules(min_seconds=0.3), anchor=1e-3, other=2e-3)
    assert found.number == 100


def test_what_does_not_get_narrower_stops():
    found, _ = compared(FakeTime(0.3), anchor=1e-3, other=9e-3)
    assert found.stopped == "stalled"


def test_threads_that_go_on_are_waited_for_and_counted_before_the_next_one_is_timed():
    """The caller computes 1 ms; a thread of its own 3 ms, of which 2 ms come after the call has returned."""
    time, own = FakeTime(), FakeTime()
    busy = iter([1, 1, 0])
    clock = ProcessClock("fake", time.now, time.now, lambda: 0, lambda seconds: time.spend(1e-3), own.now)
    clock.busy = lambda: next(busy)
    sample = clock.sample(Job(lambda i: (time.spend(2e-3), own.spend(1e-3))))
    assert list(busy) == []
    assert (sample.seconds, sample.others) == pytest.approx((2e-3, 3e-3))


def test_where_threads_cannot_be_looked_at_what_they_compute_is():
    time = FakeTime()
    spent = iter([5e-4, 4e-4, 0.0])
    clock = ProcessClock("fake", time.now, time.now, lambda: 0, lambda seconds: time.spend(next(spent)), time.now, None)
    clock.sample(Job(lambda i: time.spend(1e-3)))
    assert list(spent) == []


@pytest.mark.skipif(BUSY is None, reason="there is no /proc")
def test_a_thread_that_computes_is_busy_and_one_that_waits_is_not():
    waiting, ended = threading.Event(), threading.Event()
    numbers = torch.randn(600, 600)

    def computing():
        while not ended.is_set():
            numbers @ numbers

    threads = [threading.Thread(target=waiting.wait), threading.Thread(target=computing)]
    threads[0].start()
    nobody = any(BUSY() == 0 for _ in range(LOOKS))
    threads[1].start()
    somebody = any(BUSY() == 1 for _ in range(LOOKS))
    waiting.set()
    ended.set()
    for thread in threads:
        thread.join()
    assert nobody
    assert somebody


def test_a_case_ends_in_time():
    found, _ = compared(FakeTime(0.3), Rules(max_seconds=0.1), anchor=1e-2, other=1e-2)
    assert found.stopped == "seconds"
    assert found.number == 6 or found.number == 5


def test_rounds_are_bounded():
    found, _ = compared(FakeTime(0.3), Rules(min_seconds=9, max_rounds=40), anchor=1e-3, other=1e-3)
    assert (found.number, found.stopped) == (40, "rounds")


def test_stalling_is_measured_over_enough_rounds():
    stop = Stop(Rules(min_rounds=20, min_seconds=0, stall=16))
    widths = {4: 0.5, 8: 0.4, 12: 0.3, 16: 0.25, 20: 0.2, 24: 0.19, 28: 0.185, 32: 0.18, 36: 0.195}
    assert [stop.why(n, 1, 0, w) for n, w in widths.items()] == [""] * 8 + ["stalled"]


def test_what_stalls_goes_on_while_a_verdict_is_open():
    stop = Stop(Rules(min_rounds=4, min_seconds=0, stall=4))
    assert [stop.why(n, 1, 0, 0.1, decided=n == 12) for n in (4, 8, 12)] == ["", "", "stalled"]


def test_a_contender_that_raises_is_withdrawn_and_the_others_go_on():
    time, calls = FakeTime(), []

    def failing(i):
        calls.append(i)
        time.spend(1e-3)
        if len(calls) > 5:
            raise Failure("raised", "raised RuntimeError: out of luck")

    racing = [*contenders(time, anchor=1e-3, other=1e-3), Contender("failing", failing)]
    found = measure(racing, "anchor", time.clock(), RULES, random.Random(0))
    assert found.withdrawn == {"failing": "raised RuntimeError: out of luck"}
    assert (len(calls), len(found.samples["other"]), len(found.samples["anchor"])) == (6, 20, 20)


def test_without_its_anchor_nothing_is_measured():
    def failing(i):
        raise Failure("raised", "no")

    time = FakeTime()
    with pytest.raises(Failure, match="no"):
        measure([Contender("anchor", failing)], "anchor", time.clock(), RULES, random.Random(0))


def test_results_are_looked_at_in_some_rounds_for_all_contenders():
    time, looked = FakeTime(), []
    racing = contenders(time, anchor=1e-3, other=1e-3)
    for timed in racing:
        timed.after = lambda last, returned, name=timed.name: looked.append(name)
    found = measure(racing, "anchor", time.clock(), RULES, random.Random(0))
    assert 2 <= found.looked_at < found.number
    assert looked.count("anchor") == looked.count("other") == found.looked_at


def test_inner_calls_use_one_set_after_another():
    used, time = [], FakeTime()
    timed = Contender("a", lambda i: (used.append(i), time.spend(1e-3)), inner=4)
    sample = time.clock().sample(timed.job(7))
    assert used == [7, 8, 9, 10]
    assert sample.seconds == pytest.approx(1e-3)


def test_estimate_is_a_median():
    time, costs = FakeTime(), iter([9e-3, 1e-3, 2e-3, 3e-3, 99e-3])
    assert estimate(Contender("a", lambda i: time.spend(next(costs))), time.clock()) == pytest.approx(3e-3)


def test_what_takes_long_is_estimated_from_one_call():
    time, calls = FakeTime(), []
    estimate(Contender("a", lambda i: (calls.append(i), time.spend(9.0))), time.clock())
    assert calls == [0]


def test_warming_up_takes_its_time_and_one_turn():
    time, calls = FakeTime(), []
    timed = Contender("a", lambda i: (calls.append(i), time.spend(0.03)))
    warm_up([timed], time.clock(), 0.1)
    assert len(calls) == 4
    warm_up([timed], time.clock(), 0.0)
    assert len(calls) == 5


def test_what_was_spent_before_the_rounds_counts():
    time = FakeTime(0.3)
    time.seconds = 9.0
    racing = contenders(time, anchor=1e-2, other=1e-2)
    found = measure(racing, "anchor", time.clock(), Rules(max_seconds=9.0), random.Random(0), since=0.0)
    assert (found.number, found.stopped) == (5, "seconds")


def verdicts(slower, repeats, **noise):
    found = []
    for seed in range(repeats):
        _, ratio = compared(FakeTime(seed=seed, **noise), seed=seed, anchor=1e-3, other=slower * 1e-3)
        found.append(intervals.verdict(ratio, RULES.margin))
    return found


BURSTS = {"noise": 0.03, "bursts": 0.02}  # of a neighbour, beside what every sample is off


def test_the_same_against_itself_is_hardly_ever_told_apart():
    found = verdicts(1.0, 200, **BURSTS)
    assert found.count("FASTER") + found.count("SLOWER") <= 1


def test_five_per_cent_are_found():
    assert verdicts(1.05, 100, **BURSTS).count("SLOWER") >= 95


def test_of_recorded_calls_any_may_be_looked_at():
    """All are made at once; a cheat that computes the last one alone is found out."""
    seen = []
    timed = Contender(
        "a", lambda i: i, calls=3, before=lambda *given: seen.append(given), after=lambda *given: seen.append(given)
    )
    for first in range(4):
        job = timed.job(first, look=True)
        job.before()
        job.after(job())
    looked = [0, 1, 2, 0]
    assert seen == [given for i in looked for given in ((0, 3, i), (i, i))]
