"""``--blind-spots``: what no check executed of the user's own file."""

import ast
import json

import command_line
import pytest

import attnconf
from attnconf import adapters
from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.coverage import Reading, own_files
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import begin
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.source.syntax import tree_of
from attnconf.reports import record as records
from attnconf.reports.markdown import page
from attnconf.reports.summary import blind_spots as lines_of

HOMEWORK = """
import torch
from beside import helpful


class Unused:
    def __init__(self):
        self.x = 1


def attention(config, weights):
    if config.dropout:
        raise NotImplementedError("dropout")
    use_cache = False

    def forward(query, key, value, *, need_weights=False, attn_mask=None, **others):
        scale = query.shape[-1] ** -0.5 if config.scale is None else config.scale
        scores = query @ key.transpose(-2, -1) * scale
        if use_cache:
            scores = scores + 1
            scores = scores - 1
        elif query is not None:
            scores = scores + 0
        if value is None:
            raise ValueError("no value")
        if len(query) > 1000:
            print("long")
            return value
        weights = helpful(scores)
        return (weights @ value, weights) if need_weights else weights @ value

    return forward


def main():
    print("a demonstration")
    print(Unused().x)


if __name__ == "__main__":
    main()
"""
BESIDE = """
import torch


def helpful(scores):
    for _ in range(0):
        scores = scores + 1
    return torch.softmax(scores, dim=-1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blind")
    (folder / "homework.py").write_text(HOMEWORK, encoding="utf-8")
    (folder / "beside.py").write_text(BESIDE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    options = ("--blind-spots", "--results=out.json", "-k", "ATT-SCALE-1 or ATT-WEIGHTS-1")
    done = command_line.in_process("run", "--impl=homework.py", *options, cwd=folder)
    return done.stdout, records.read(folder / "out.json")


def test_the_end_of_a_run_lists_them_with_their_code(run):
    end = run[0][run[0].index("not exercised") :].splitlines()
    assert end[:5] == [
        "not exercised: homework.py:19-21 (if use_cache: …)",
        "not exercised: homework.py:22 (elif query is not None: … is never false)",
        "not exercised: homework.py:26-28 (if len(query) > 1000: …)",
        "not exercised: beside.py:6-7 (for _ in range(0): …)",
        "never called: homework.py:6-8 (class Unused), homework.py:35-37 (def main)",
    ]
    assert "error branches that were not reached: homework.py:12-13, homework.py:24-25" in end


def test_they_are_in_the_record_and_in_the_report(run):
    (implementation,) = run[1]["implementations"]
    cache = {"file": "homework.py", "first": 19, "last": 21, "kind": "code", "code": "if use_cache:"}
    assert cache in implementation["blind_spots"]
    section = page([("out.json", run[1])]).split("<summary>Not exercised</summary>")[1]
    assert "homework.py:19-21" in section.split("</details>")[0]


def test_they_are_not_looked_for_unless_asked(folder):
    report = attnconf.check(folder / "homework.py", select="ATT-SCALE-1")
    assert report.record["implementations"][0]["blind_spots"] is None
    assert lines_of(report.record) == []


def test_a_full_profile_looks_for_them(folder):
    report = attnconf.check(folder / "homework.py", profile="full", select="ATT-SCALE-1")
    assert "not exercised: homework.py:19-21 (if use_cache: …)" in str(report)
    assert "if use_cache:" in report._repr_html_()


def test_what_is_no_file_of_the_users_own_is_said_in_the_header(folder, monkeypatch):
    asked = begin(make_plan(load("reference"), Settings("core-1", blind_spots=True)))
    assert asked.remarks == ["no blind spots of reference: it is no .py file of your own"]
    monkeypatch.setattr(coverage, "available", lambda: False)
    full = begin(make_plan(load(str(folder / "homework.py")), Settings("full")))
    assert full.remarks == [coverage.MISSING]
    assert full.recording is None


def test_the_users_own_files_are_watched(folder, tmp_path):
    assert own_files(str(folder / "homework.py")) == [folder / "homework.py", folder / "beside.py"]
    ours = adapters.__file__
    for other in (ours, pytest.__file__, json.__file__, "", str(folder), str(tmp_path / "nowhere.py")):
        assert own_files(other) == []


def read(text, missing, one_way=()):
    """Return the spots of a text of which every statement but those in the missing lines was executed."""
    tree = tree_of(text)
    statements = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    reading = Reading("f.py", text.splitlines(), statements, set(missing), set(one_way))
    return [(s.first, s.last, s.kind, s.code) for s in reading.module(tree)]


BRANCHES = """def f(x):
    try:
        y = x
    except ValueError:
        y = 0
    match y:
        case 1:
            z = 1
        case _:
            z = 2
    while z:
        z -= 1
    else:
        z = 5
    if z:
        return 1
    with x:
        return 2
    return 3
def g():
    def h():
        return 1
    return h
class C:
    def __repr__(self):
        return ""
    def called(self):
        return 1
    def forgotten(self):
        return 2
    def refused(self):
        raise NotImplementedError
"""


@pytest.mark.parametrize(
    ("missing", "one_way", "want"),
    [
        ([], [], []),
        ([5], [], [(4, 5, "error", "except ValueError:")]),
        ([8], [], [(7, 8, "code", "case 1:")]),
        ([12], [], [(11, 12, "code", "while z:")]),
        ([14], [], [(14, 14, "code", "z = 5")]),
        ([16], [15], [(15, 16, "code", "if z:")]),
        ([17, 18, 19], [15], [(15, 15, "branch", "if z: … is never false"), (17, 19, "code", "with x:")]),
        ([22], [], [(21, 22, "function", "def h():")]),
        ([26], [], []),
        ([30], [], [(29, 30, "function", "def forgotten(self):")]),
        ([32], [], [(31, 32, "error", "def refused(self):")]),
        ([26, 28, 30, 32], [], [(24, 32, "function", "class C:")]),
    ],
)
def test_what_was_not_executed_is_named_by_what_it_depends_on(missing, one_way, want):
    assert read(BRANCHES, missing, one_way) == want


def test_many_are_shortened_and_none_is_said():
    spots = [{"file": "f.py", "first": n, "last": n, "kind": "code", "code": "x = 1"} for n in range(1, 21)]
    lines = lines_of({"implementations": [{"name": "f.py", "blind_spots": spots}]})
    assert len(lines) == 14
    assert lines[-1] == "not exercised: 8 places more"
    nothing = {"implementations": [{"name": "f.py", "blind_spots": []}]}
    assert lines_of(nothing) == ["", "not exercised: nothing that was called of f.py"]


def test_without_coverage_one_line_says_what_to_install(folder, tmp_path):
    trap = tmp_path / "sitecustomize.py"
    trap.write_text(
        "import importlib.util as u\nfound = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'coverage' else found(name, *rest)\n",
        encoding="utf-8",
    )
    done = command_line.attnconf("run", "--impl=homework.py", "--blind-spots", cwd=folder, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert "--blind-spots: looking for blind spots needs coverage: pip install 'attention-conformance[coverage]'" in (
        done.stdout + done.stderr
    )
