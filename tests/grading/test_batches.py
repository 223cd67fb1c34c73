"""A batch is begun once, goes on after an interruption, and comes out the same however it was graded."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import in_process

from attnconf import grade_verb
from attnconf.conformance.engine import child
from attnconf.conformance.grading import batch, controls, pool, rubric_text
from attnconf.conformance.grading.rubric import RubricError
from attnconf.conformance.grading.submissions import Submission
from attnconf.conformance.worker import confinement

MINIATURES = Path(__file__).parents[1] / "miniatures"
RUBRIC = """\
title = "Scores"
components = ["multi_head_attention"]
seconds = 60
[[item]]
name = "Scale"
points = 4
requirements = ["ATT-SCALE-1", "ATT-SCORE-1"]
[[item]]
name = "Shapes"
points = 1
requirements = ["CALL-SHAPE-1"]
"""
RIGHT, WRONG = "self_attention.py", "homework.py"


@pytest.fixture
def handed_in(tmp_path):
    """Return a folder of submissions, and a rubric beside it."""
    folder = tmp_path / "submissions"
    (folder / "zoe").mkdir(parents=True)
    shutil.copy(MINIATURES / RIGHT, folder / "ann.py")
    shutil.copy(MINIATURES / RIGHT, folder / "bob.py")
    shutil.copy(MINIATURES / WRONG, folder / "zoe" / "attention.py")
    (folder / "eve.py").write_text("import os\nos._exit(0)\n\nclass Attention:\n    pass\n")
    (tmp_path / "hw.toml").write_text(RUBRIC)
    return folder


def command(handed_in, *more):
    out = handed_in.parent / "out"
    return [
        sys.executable, "-m", "attnconf", "grade", str(handed_in), "--rubric", str(handed_in.parent / "hw.toml"),
        "--out", str(out), *more,
    ]  # fmt: skip


def records(handed_in):
    folder = handed_in.parent / "out" / "records"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


def await_records(count, handed_in, process):
    until = time.monotonic() + 300
    while len(records(handed_in)) < count and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)


def examiners(grader):
    """Return the processes that examine for a grader."""
    children = Path(f"/proc/{grader}/task/{grader}/children").read_text().split()
    return [int(n) for n in children if b"spawn_main" in Path(f"/proc/{n}/cmdline").read_bytes()]


def scores(handed_in):
    found = {}
    for path in (handed_in.parent / "out" / "gradescope").glob("*.json"):
        found[path.name.split(".")[0]] = json.loads(path.read_text())["score"]
    return found


@pytest.mark.long
def test_a_class_is_graded_and_a_killed_grader_goes_on_where_it_was(handed_in):
    """Nothing is lost, and nothing is done twice: the record that was there is not written again.

    Nor where what examines a submission is killed.
    """
    process = subprocess.Popen(command(handed_in, "--jobs", "1"), stderr=subprocess.DEVNULL)
    await_records(1, handed_in, process)
    (examiner,) = examiners(process.pid)
    os.kill(examiner, signal.SIGKILL)
    await_records(2, handed_in, process)
    process.kill()
    was_killed = process.wait() == -signal.SIGKILL  # unless it was done by then, on a machine that did not let us
    before = records(handed_in)
    page = handed_in.parent / "out" / batch.PAGE
    seed = json.loads(page.read_text())["seed"]
    assert json.loads(page.read_text())["closed"] != was_killed
    assert (page.stat().st_mode & 0o077 == 0) == was_killed, "the seed is secret while the batch is open"
    told = {name: os.stat(handed_in.parent / "out" / "records" / name).st_mtime_ns for name in before}
    done = subprocess.run(command(handed_in), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(page.read_text())["closed"]
    assert json.loads(page.read_text())["seed"] == seed
    after = records(handed_in)
    assert len(after) == 4
    assert {name: os.stat(handed_in.parent / "out" / "records" / name).st_mtime_ns for name in before} == told
    assert scores(handed_in) == {"ann": 5, "bob": 5, "zoe": 3, "eve": 0}
    assert "ann.py" in done.stdout
    assert "5 of 5" in done.stdout
    again = subprocess.run(command(handed_in, "--anew", "--seed", str(seed), "--jobs", "1"), timeout=300)
    assert again.returncode == 0
    assert records(handed_in) == after, "the same seed gives the same bytes, one at a time or two"


@pytest.mark.parametrize("word", ["--seed=3", "--rubric=first-attention"])
def test_a_batch_that_was_begun_is_not_gone_on_with_otherwise(word, handed_in):
    out = handed_in.parent / "out"
    out.mkdir()
    page = {"schema": batch.SCHEMA, "suite": "0.1.0", "rubric": RUBRIC, "seed": 7, "isolation": [], "plan": []}
    (out / batch.PAGE).write_text(json.dumps(page))
    got = subprocess.run(command(handed_in, word), capture_output=True, text=True, timeout=60)
    assert got.returncode == 2
    assert got.stderr.startswith("ERROR: it was begun with another ")
    assert "--anew" in got.stderr
    assert got.stderr.count("\n") == 1


@pytest.mark.parametrize("content", ["", "{}", '{"schema": "other"}', "[1]", "\x00"])
def test_a_folder_of_something_else_is_told_in_a_line(content, tmp_path):
    (tmp_path / batch.PAGE).write_text(content)
    with pytest.raises(batch.BatchError, match=r"none of a batch|cannot read"):
        batch.begun(tmp_path)


def test_two_graders_do_not_share_a_folder(tmp_path):
    with batch.alone(tmp_path), pytest.raises(batch.BatchError, match="another attnconf grade"), batch.alone(tmp_path):
        pass
    with batch.alone(tmp_path):
        pass


def test_the_plan_is_what_the_reference_passes():
    rubric = rubric_text.load("first-attention")
    plan = controls.planned(rubric, 11)
    assert [(p.component, p.requirement) for p in plan] == [
        (item.component, requirement) for item in rubric.items for requirement in item.requirements
    ]
    telling = {p.requirement for p in plan if p.telling}
    assert "ATT-SCALE-1" in telling
    assert "MHA-ORACLE-1" in telling
    assert "CALL-SHAPE-1" not in telling, "whatever computes nothing has the right shape"


def test_a_reference_that_fails_stops_the_batch(monkeypatch):
    """Nobody can be judged where the suite itself is unsound."""
    from attnconf.adapters import reference

    def halved(config, weights):
        return lambda *given, **more: right(config, weights)(*given, **more) / 2

    right = reference.multi_head_attention
    monkeypatch.setattr(reference, "multi_head_attention", halved)
    with pytest.raises(controls.Unsound, match="the reference itself fails ATT-"):
        controls.planned(rubric_text.load("first-attention"), 0)


def test_an_unknown_rubric_is_told():
    with pytest.raises(RubricError, match="first-attention"):
        rubric_text.load("first-atention")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "0"], "--jobs 0: want at least 1"),
        (["--seed", "-1"], "--seed -1: want a number from 0"),
        (["--engine", "ray", "--require-isolation", "strict"], "looks at this machine, and not at the nodes"),
        (["--address", "h:1"], "--address h:1 is of a Ray cluster: --engine ray uses it"),
    ],
)
def test_options_that_do_not_fit_are_told(words, said, handed_in):
    got = subprocess.run(command(handed_in, *words), capture_output=True, text=True, timeout=60)
    assert (got.returncode, got.stdout) == (2, "")
    assert said in got.stderr
    assert not (handed_in.parent / "out").exists()


def test_grades_do_not_lie_among_what_is_graded(handed_in):
    words = command(handed_in)
    words[words.index("--out") + 1] = str(handed_in / "grades")
    got = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert got.returncode == 2
    assert "lies among the submissions" in got.stderr


def test_a_demand_for_isolation_holds_also_where_a_batch_goes_on(handed_in, monkeypatch):
    """It may go on elsewhere; what was found out when it was begun says nothing of that."""
    out = handed_in.parent / "out"
    out.mkdir()
    layers = list(confinement.LAYERS)
    page = {"schema": batch.SCHEMA, "suite": "0.1.0", "rubric": RUBRIC, "seed": 7, "isolation": layers, "plan": []}
    (out / batch.PAGE).write_text(json.dumps(page))
    monkeypatch.setattr(child, "layers_here", lambda: ("process",))
    monkeypatch.setattr(pool, "settle", lambda: None)  # this process goes on
    got = in_process(*command(handed_in, "--require-isolation", "strict")[3:], cwd=handed_in.parent)
    assert got.returncode == 2
    assert "--require-isolation strict: not to be had here: folder, descendants, " in got.stderr
    assert not records(handed_in)


def test_what_is_refused_for_another_reason_now_says_so(tmp_path):
    """Neither has a digest: it is no file that was judged."""
    rubric = rubric_text.parse(RUBRIC, "hw.toml")
    for why in ("is encrypted", "is a link"):
        refused = Submission("ann.zip", "ann.zip", None, "ann.zip", "", why)
        ours = batch.Batch(tmp_path, rubric, 7, (), (), (refused,))
        ours.write(closed=False)
        grade_verb._examine(ours, ours.left(), lambda tasks, rubric, seed: iter(()))
        assert (ours.record(refused)["status"], ours.record(refused)["message"]) == ("refused", why)
