"""Cheats: each is a small implementation in tests/cheats, and none of them gets a time that counts."""

import importlib
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from fake_time import FixedClock

from attnconf.conformance.run.implementations import load
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.measuring import time_case
from attnconf.conformance.timing.rounds import Rules

CASE = TimedCase("small", "attention", B=2, H=3, L=8, E=4)
RULES = Rules(min_rounds=20, min_seconds=0.0, warm_up=0.0, sample=4e-3)
CHEATS = Path(__file__).parents[1] / "cheats"


def timed(name, clock=None, **changes):
    """Return what is said of a contender, and the whole record."""
    (contender,) = load(str(CHEATS / f"{name}.py"))
    case = TimedCase(**{**vars(CASE), **changes})
    record = time_case(case, [contender], RULES, clock=clock or FixedClock(), seed=0)
    json.dumps(record, allow_nan=False)
    (entry,) = record["contenders"]
    return entry, record


def codes(entry):
    return {flag["code"] for flag in entry["flags"]}


def test_what_is_honest_is_timed():
    record = time_case(CASE, load("reference"), RULES, clock=FixedClock(), seed=0)
    (entry,) = record["contenders"]
    assert (entry["status"], entry["verdict"], entry["flags"]) == ("timed", "SAME", [])
    assert record["looked_at"] >= 2


@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lazy", "want a torch.Tensor and no class of one's own"),
        ("less_precise", "max error"),
        ("zeros", ""),
        ("in_place", ""),
        ("echo", "memory that it was handed"),
        ("thread_behind", ""),
    ],
)
def test_what_is_wrong_is_never_timed(name, words, passes):
    entry, record = timed(name, passes=passes)
    assert (entry["status"], record["status"]) == ("not-timed", "timed")
    assert words in entry["reason"]
    assert "median_s" not in entry


def test_a_thread_that_goes_on_is_seen():
    assert "thread" in codes(timed("thread_behind")[0])


def test_an_inverted_mask_is_never_timed():
    assert timed("inverted_mask", causal=True)[0]["status"] == "not-timed"
    assert timed("inverted_mask", causal=False)[0]["status"] == "timed"


def test_a_missing_gradient_is_never_timed():
    entry, _ = timed("no_gradient", passes="backward")
    assert entry["reason"] == "not timed: there is no gradient of key: the graph to it is cut"
    assert timed("no_gradient")[0]["status"] == "timed"


@pytest.mark.parametrize("name", ["by_pointer", "stale_buffer"])
def test_a_result_of_earlier_is_suspect(name):
    entry, _ = timed(name)
    assert (entry["status"], entry["verdict"], codes(entry)) == ("timed", "SUSPECT", {"wrong-when-timed"})


def test_no_contents_come_twice():
    timed("by_contents")
    (module,) = (m for m in sys.modules.values() if getattr(m, "__file__", "") == str(CHEATS / "by_contents.py"))
    # building, sizing and warming up use the same numbers; what is timed does not
    assert len(module.hits) < len(module.remembered) / 2


def test_changed_inputs_are_named():
    entry, _ = timed("in_place")
    assert entry["reason"] == "not timed: changed query in place"
    assert "changed-inputs" in codes(entry)


def test_replaced_clocks_are_seen_and_not_used(monkeypatch):
    for owner, name in ((time, "perf_counter"), (time, "process_time"), (torch.cuda.Event, "elapsed_time")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # puts them back afterwards
    entry, _ = timed("slow_clock")
    assert (entry["verdict"], codes(entry)) == ("SUSPECT", {"replaced-timer"})
    clock = importlib.import_module("attnconf.conformance.timing.clock").ProcessClock()
    assert clock.now() > 100 * time.perf_counter()


def test_settings_for_all_are_put_back_and_told():
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    entry, _ = timed("all_threads")
    assert codes(entry) == {"changed-setting"}
    assert entry["verdict"] == "SAME"
    assert (torch.get_num_threads(), torch.get_float32_matmul_precision()) == before


@pytest.mark.skipif(os.cpu_count() == 1, reason="there is one processor")
def test_threads_of_ones_own_are_suspect_and_in_nobody_elses_time():
    long = TimedCase("long", "attention", B=2, H=8, L=256, E=64)
    contenders = [load(str(CHEATS / "own_threads.py"))[0], replace(load("torch_sdpa:flash")[0], name="one thread")]
    record = time_case(long, contenders, Rules(min_rounds=12, max_seconds=4.0, looked_at=0.0))
    cheat, honest = record["contenders"]
    assert cheat["verdict"] == "SUSPECT"
    assert "several-threads" in codes(cheat)
    assert "several-threads" not in codes(honest)


def test_what_is_compiled_is_timed_as_such_whatever_was_judged_before():
    eager = []

    @torch.compile(backend="eager")
    def compiled(query, key, value):
        if not torch.compiler.is_compiling():
            eager.append(query.shape)
        return F.scaled_dot_product_attention(query, key, value)

    for n in range(1, 20):  # more kinds of input than the compiler takes
        compiled(*torch.randn(3, *[1] * n, 2, 3).double() if n % 2 else torch.randn(3, *[1] * n, 2, 3))
    eager.clear()
    mine = replace(load("reference")[0], name="mine", components={"attention": lambda config, weights: compiled})
    assert time_case(CASE, [mine], RULES, clock=FixedClock(), seed=0)["contenders"][0]["status"] == "timed"
    assert not eager


def test_what_raises_is_withdrawn_in_its_words():
    entry, record = timed("tired")
    assert (entry["status"], record["status"]) == ("not-timed", "timed")
    assert entry["reason"].endswith("raised RuntimeError: tired")


def test_what_is_not_supported_says_so():
    entry, _ = timed("unwilling")
    assert (entry["status"], entry["reason"]) == ("unsupported", "not supported: attention on Saturdays")
    entry, _ = timed("unwilling", component="rotary")
    assert entry["reason"] == "not supported: it has no rotary"
