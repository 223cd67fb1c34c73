"""`attnconf mutate`: what alters a file is told from what does not, and a survivor is reported with its input."""

import json
from pathlib import Path

import pytest
from command_line import attnconf
from snippets import NORM

from attnconf.conformance.mutating import told
from attnconf.conformance.mutating.changes import Change, changes
from attnconf.conformance.mutating.effects import Effect, Survey, effect, survey
from attnconf.conformance.mutating.judged import Verdict, binding, judge, worst
from attnconf.conformance.mutating.mutate import MutateError, Outcome, Result, mutate
from attnconf.conformance.mutating.workers import Lost, Refused, Worker

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def norm(tmp_path_factory):
    """Return the path of a right file, its text and its binding; how it runs is found out once."""
    path = tmp_path_factory.mktemp("mutate") / "norm.py"
    path.write_text(NORM, encoding="utf-8")
    return str(path), NORM, tuple(binding(str(path), NORM, ""))


ALTERING = [
    ("x.mean(-1, keepdim=True)", "x.amax(-1, keepdim=True)"),
    ("unbiased=False", "unbiased=True"),
    ("eps=1e-5", "eps=1e-4"),  # only where the option is left out
    ("+ self.eps", "+ 2 * self.eps"),
    ("* self.gain", "* self.gain.detach()"),  # gradients alone
    ("(x - mean)", "x.data.sub_(mean)"),  # the input is changed
    ("+ self.shift", "+ self.shift * self.training"),  # in evaluation alone
    ("+ self.shift", "+ self.shift.float()[:x.shape[0]].sum()"),
]
HARMLESS = [
    ("(x - mean) /", "(-mean + x) /"),
    ("torch.sqrt(var + self.eps)", "(self.eps + var) ** 0.5"),
    ("return 1 + 1", "return 1 - 1"),
    ("torch.ones(features)", "torch.rand(features)"),  # what a parameter begins with
]


@pytest.mark.parametrize(("before", "after"), ALTERING)
def test_what_alters_is_seen(norm, before, after):
    path, text, bound = norm
    assert before in text
    found = effect(path, text, bound, text.replace(before, after))
    assert found.altered
    assert found.situation
    assert found.difference
    assert not found.raises


@pytest.mark.parametrize(("before", "after"), HARMLESS)
def test_what_is_harmless_is_told_from_it(norm, before, after):
    path, text, bound = norm
    assert before in text
    assert effect(path, text, bound, text.replace(before, after)) == Effect(False)


FUNCTIONS = """
import torch


def rms_norm(x, weight, eps=1e-6, centred=False):
    y = x - x.mean(-1, keepdim=True) if centred else x
    return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + eps) * weight).to(x.dtype)
"""


@pytest.mark.parametrize(
    ("before", "after"), [("eps=1e-6", "eps=1e-3"), ("x - x", "x + x"), (".to(x.dtype)", ".float()")]
)
def test_options_of_a_function_are_tried_too(tmp_path, before, after):
    path = tmp_path / "norm.py"
    path.write_text(FUNCTIONS, encoding="utf-8")
    bound = tuple(binding(str(path), FUNCTIONS, ""))
    assert before in FUNCTIONS
    assert effect(str(path), FUNCTIONS, bound, FUNCTIONS.replace(before, after)).altered
    assert not effect(str(path), FUNCTIONS, bound, FUNCTIONS + "\n").altered


SIZED = """
import torch
from torch import nn

WIDTH = 16
HEADS = 2


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.queries, self.keys, self.values, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.queries, self.keys, self.values))
        weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
"""


def test_sizes_that_a_binding_sets_for_the_file_show_no_change(tmp_path):
    path = tmp_path / "attention.py"
    path.write_text(SIZED, encoding="utf-8")
    bound = tuple(binding(str(path), SIZED, ""))
    assert survey(str(path), SIZED, bound).situations > 10
    assert not effect(str(path), SIZED, bound, SIZED.replace("k.transpose(-2, -1)", "k.transpose(-1, -2)")).altered
    assert effect(str(path), SIZED, bound, SIZED.replace("** 0.5", "** 0.25")).altered


def test_what_is_judged_as_something_else_has_that_verdict():
    before = [Verdict("learned", "conformant", inside="Table")]
    after = [Verdict("token_embedding", "unrecognised", inside="Table")]
    assert worst(before, after) == after[0]


def test_what_raises_in_every_call_is_said_to(norm):
    path, text, bound = norm
    assert effect(path, text, bound, text.replace("x.mean(", "x.meen(")).raises
    assert effect(path, text, bound, text + "\ndef f(:\n").raises


def test_code_that_never_runs_is_known(norm):
    path, text, bound = norm
    seen = survey(path, text, bound)
    ran = {text.splitlines()[line - 1].strip() for line in seen.ran.lines}
    assert seen.situations > 50
    assert "mean = x.mean(-1, keepdim=True)" in ran
    assert "return 1 + 1" not in ran


def test_the_verdict_is_that_of_a_run(norm):
    path, text, _ = norm
    before = judge(path, text, "")
    wrong = judge(path, text.replace("unbiased=False", "unbiased=True").replace("x - mean", "x"), "")
    assert [v.verdict for v in before] == ["conformant"]
    assert worst(before, wrong).verdict in ("nonconformant", "unrecognised")
    assert worst(before, [Verdict("", "not-gradable", "SyntaxError")]).reason == "SyntaxError"
    assert worst(before, []).reason == "it is no longer found"


def sleep_for_ever():
    while True:
        pass


def crash():
    import os

    os._exit(7)


def add(a, b):
    return a + b


def test_an_endless_loop_or_a_crash_ends_only_itself():
    worker = Worker()
    try:
        assert worker.ask(60, add, 1, 2) == 3
        with pytest.raises(Lost, match="did not end within 1 s"):
            worker.ask(1, sleep_for_ever)
        with pytest.raises(Lost, match="crashed"):
            worker.ask(60, crash)
        with pytest.raises(Refused, match="TypeError"):
            worker.ask(60, add, 1, "2")
        assert worker.ask(60, add, 3, 4) == 7
    finally:
        worker.end()


LOOP = """
    def forward(self, x):
        done = 1
        while done > 1:
            done = done + 1
"""


def test_a_change_that_does_not_end_does_not_hang(write, monkeypatch):
    path = str(write(NORM.replace("\n    def forward(self, x):\n", LOOP), "norm.py"))
    endless = [c for c in changes(Path(path).read_text(encoding="utf-8")) if c.after == "while done >= 1:"]
    monkeypatch.setattr("attnconf.conformance.mutating.changes.changes", lambda text, ran=None: endless)
    monkeypatch.setattr("attnconf.conformance.mutating.mutate.SLOWER", 1.0)
    (outcome,) = mutate(path, 1, 0, at_least=5.0).outcomes
    assert outcome.effect.altered
    assert "did not end" in outcome.effect.difference
    assert not outcome.survives


def outcome(verdict, effect, named=""):
    change = Change("operator", 3, "y = a + b", "y = a - b", "")
    return Outcome(change, "line 3", effect, Verdict("layer_norm", verdict, "violates LN-1", named))


ALTERED = Effect(True, "LayerNorm as (shape=(13,)), plain", "out: was 1, is 2")


def test_a_survivor_is_reported_with_its_lines_and_its_input():
    outcomes = (
        outcome("conformant", ALTERED),
        outcome("nonconformant", ALTERED, "the mean is not subtracted"),
        outcome("nonconformant", ALTERED),
        outcome("unrecognised", ALTERED),
        outcome("conformant", Effect(False)),
        outcome("nonconformant", Effect(False)),
    )
    result = Result("norm.py", (Verdict("layer_norm", "conformant"),), Survey(100), 40, 5, outcomes)
    text = "\n".join(told.lines(result))
    assert "changes    6 of 40; 5 more" in text
    assert "altering   4, shown by 100 situations" in text
    assert "rejected   3: 2 nonconformant (1 named, 1 unnamed), 1 unrecognised" in text
    assert "survivors  1" in text
    assert "harmless   2, of which 1 rejected" in text
    for word in ("altering:", "harmless:", "raising:", "rejected:", "survivors:"):  # each is explained
        assert text.count(word) == 1
    assert "before    y = a + b\n    after     y = a - b\n    shown by  LayerNorm as (shape=(13,)), plain: out" in text
    assert "harmless, but nonconformant: violates LN-1" in text
    assert [c["survives"] for c in told.data(result)["changes"]] == [True, *[False] * 5]


def test_the_command(write, tmp_path):
    path, out = write(NORM, "norm.py"), tmp_path / "out.json"
    run = attnconf("mutate", str(path), "--limit", "2", "--seed", "1", "--json", str(out), cwd=tmp_path)
    content = json.loads(out.read_text(encoding="utf-8"))
    assert run.returncode == any(c["survives"] for c in content["changes"])
    assert "changes    2 of" in run.stdout
    assert len(content["changes"]) == 2
    assert content["verdicts"][0]["verdict"] == "conformant"
    assert all(c["before"] != c["after"] for c in content["changes"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("def f(:\n", "SyntaxError"),
        (NORM.replace("x - mean", "x + mean"), "itself"),
        ("x = 1\n", "not-gradable itself"),
    ],
)
def test_what_does_not_conform_is_refused(write, content, says):
    with pytest.raises(MutateError, match=says):
        mutate(str(write(content, "norm.py")), 3, 0)


def test_what_is_not_there_is_refused(tmp_path):
    run = attnconf("mutate", "not_there.py", cwd=tmp_path)
    assert run.returncode == 2
    assert "there is no such .py file or notebook" in run.stderr


def test_a_notebook_is_changed_by_its_cells(write):
    path = write(["import torch", NORM, "!pip list"], "norm.ipynb")
    result = mutate(str(path), 1, 0)
    assert all(o.place.startswith("cell 2, line") for o in result.outcomes)
