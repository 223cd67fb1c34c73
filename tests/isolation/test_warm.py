"""Processes that a warm one forks do as those that are started: the same answers, layers and words at their end."""

import os
import signal

import pytest
import torch

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine import child, warm
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.loading import isolated

SCALED = """
def attention(config, weights):
    def forward(query, key, value, **options):
        {first}
        weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        return weights @ value
    return forward
"""


@pytest.fixture
def kept():
    """Yield the warm process of workers."""
    if not warm.keep_warm(warm.WORKER):
        pytest.skip("no handles on processes here")
    yield warm._warm[warm.WORKER]
    child.end_all()
    warm.let_cool()


def loaded(tmp_path, first=""):
    path = tmp_path / "mine.py"
    path.write_text(SCALED.format(first=first))
    (found,) = isolated.load(str(path), None, isolated.Terms(20.0))
    return found


def called(found):
    q = torch.ones(1, 1, 2, 3)
    inputs = dict.fromkeys(("query", "key", "value"), q)
    return call(found, Request("attention", AttentionConfig(), {}, inputs, out_shape=(1, 1, 2, 3))).out


def test_a_forked_process_answers_and_has_the_layers_of_a_started_one(kept, tmp_path):
    found = loaded(tmp_path)
    assert torch.equal(called(found), torch.ones(1, 1, 2, 3))
    assert found.apart.child._process.__class__ is warm.Forked
    there = found.apart.layers
    child.end_all()
    warm.let_cool()
    started = loaded(tmp_path)
    assert started.apart.layers == there
    assert started.apart.child._process.__class__ is not warm.Forked


@pytest.mark.parametrize(
    ("first", "words"),
    [("import os; os._exit(7)", "exit code 7"), ("import os; os.abort()", "SIGABRT")],
    ids=["exit", "signal"],
)
def test_how_it_ended_is_told(kept, tmp_path, first, words):
    with pytest.raises(Failure, match=words):
        called(loaded(tmp_path, first))


def test_a_warm_process_that_is_killed_is_replaced(kept, tmp_path):
    os.kill(kept._process.pid, signal.SIGKILL)
    kept._process.wait()
    assert torch.equal(called(loaded(tmp_path)), torch.ones(1, 1, 2, 3))
    assert warm._warm[warm.WORKER] is not kept


def test_what_was_forked_ends_with_it(kept, tmp_path):
    found = loaded(tmp_path)
    called(found)
    forked = found.apart.child._process
    kept.end()
    assert forked.wait(20) is not None
