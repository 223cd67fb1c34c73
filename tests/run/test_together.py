"""What the workers of a test run share is computed once, whoever asks, and nobody waits who can do something else."""

import threading

import pytest
from together import Together


def test_a_value_is_computed_once_by_all_workers(tmp_path):
    computed = []
    one, other = Together(tmp_path), Together(tmp_path)
    assert one.value("a/b", lambda: computed.append("one") or 5) == 5
    assert other.value("a/b", lambda: computed.append("other") or 6) == 5
    assert other.values(["a/b", "c"], lambda name: computed.append(name) or name) == {"a/b": 5, "c": "c"}
    assert computed == ["one", "c"]


def test_what_another_worker_is_at_comes_last_and_is_waited_for(tmp_path):
    computed, at_it, others_done = [], threading.Event(), threading.Event()

    def slowly():
        at_it.set()
        others_done.wait()
        return "theirs"

    def compute(name):
        computed.append(name)
        if name == "c":
            others_done.set()
        return name

    other = threading.Thread(target=Together(tmp_path).value, args=("a", slowly))
    other.start()
    at_it.wait()
    assert Together(tmp_path).values(["a", "b", "c"], compute) == {"a": "theirs", "b": "b", "c": "c"}
    assert computed == ["b", "c"]
    other.join()


def test_what_fails_is_not_kept(tmp_path):
    mine = Together(tmp_path)

    def failing():
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        mine.value("a", failing)
    assert mine.value("a", lambda: 1) == 1
