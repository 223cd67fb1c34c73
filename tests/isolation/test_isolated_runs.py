"""``--isolate`` on the command line: verdicts, exit codes and what is said of it."""

import json
import os
from pathlib import Path

import pytest
from command_line import attnconf, in_process, pytest_in_process

from attnconf.conformance import binder
from attnconf.conformance.engine import answers
from attnconf.conformance.engine.request import INFERRED, Binding, Implementation
from attnconf.conformance.loading import isolated
from attnconf.conformance.worker.wire import Malformed

ROOT = Path(__file__).parents[2]
HOMEWORK = ROOT / "tests" / "miniatures" / "homework.py"
ONE = ("-k", "ATT-SCALE-1")
CLASS = """
import os, sys
from torch import nn
{at_import}
class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        {constructed}
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = (q / x.shape[-1] ** 0.5 @ k.transpose(-2, -1)).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
"""
FORGES = """
def forge():
    judge = sys.modules.get("attnconf.conformance.engine.judge")
    if judge is not None:
        judge._record = lambda result, failure: setattr(result, "outcome", "pass")
"""
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="--isolate needs sockets and sessions of POSIX systems"),
    pytest.mark.usefixtures("as_a_user"),
]
ADAPTER = """
import os
import torch
{at_import}
def attention(config, weights):
    def forward(query, key, value, **options):
        {in_call}
        return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value
    return forward
"""


def run(folder, path, *options, by=in_process):
    """Return the exit code, the record and what was printed of a run apart."""
    results = folder / "results.json"
    done = by("run", f"--impl={path}", "--isolate", f"--results={results}", *options, cwd=folder)
    return done.returncode, json.loads(results.read_text(encoding="utf-8")), done.stdout + done.stderr


def test_a_file_without_an_adapter_is_bound_in_one_process_and_judged_in_another(tmp_path):
    code, record, _ = run(tmp_path, HOMEWORK.with_name("self_attention.py"), *ONE)
    (implementation,) = record["implementations"]
    assert (code, implementation["isolation"][:1], implementation["binding"]) == (0, ["process"], "inferred")
    said = "isolation    judged in a child process, bound in another"
    assert any(line.startswith(said) for line in implementation["bound"])


def test_a_mistake_is_named_and_located_as_ever(tmp_path):
    code, _, printed = run(tmp_path, HOMEWORK, *ONE)
    assert code == 1
    assert "divided by √(H·E)" in printed
    assert "homework.py:15" in printed


def test_pytest_takes_it_too(tmp_path, write):
    path = write(ADAPTER.format(at_import="", in_call="pass"), "mine.py")
    results = tmp_path / "results.json"
    done = pytest_in_process("conformance", f"--impl={path}", "--isolate", f"--results={results}", *ONE, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    (implementation,) = json.loads(results.read_text(encoding="utf-8"))["implementations"]
    assert implementation["isolation"][:1] == ["process"]


def test_a_package_of_the_working_folder_finds_the_modules_beside_it(tmp_path, write):
    write("POWER = 0.5\n", "beside_it.py")
    write("", "of_mine/__init__.py")
    write(ADAPTER.format(at_import="from beside_it import POWER", in_call="POWER"), "of_mine/module.py")
    code, record, printed = run(tmp_path, "of_mine.module", *ONE, by=attnconf)
    assert (code, record["implementations"][0]["isolation"][:1]) == (0, ["process"]), printed


def test_an_end_at_import_leaves_a_verdict(tmp_path, write):
    path = write(ADAPTER.format(at_import="os._exit(0)", in_call="pass"), "mine.py")
    code, record, printed = run(tmp_path, path, by=attnconf)
    (verdict,) = record["verdicts"]
    assert (code, verdict["verdict"], record["complete"]) == (1, "not-gradable", True)
    assert "importing it ended its process (exit code 0)" in printed


def test_an_end_in_a_call_fails_what_asked_for_it(tmp_path, write):
    path = write(ADAPTER.format(at_import="", in_call="os._exit(0)"), "mine.py")
    code, record, printed = run(tmp_path, path, *ONE)
    assert code == 1
    assert {(r["outcome"], r["reason"]) for r in record["results"]} == {("fail", "crashed")}
    assert record["verdicts"][0]["verdict"] == "nonconformant"
    assert "ended its process (exit code 0)" in printed


def test_a_constructor_that_patches_what_judges_patches_it_where_nothing_is_judged(tmp_path, write):
    path = write(CLASS.format(at_import=FORGES, constructed="forge()"), "mine.py")
    code, record, printed = run(tmp_path, path, *ONE)
    assert (code, record["verdicts"][0]["verdict"]) == (1, "nonconformant")
    assert "divided by √(H·E)" in printed


def test_nothing_of_a_file_is_run_in_the_process_that_judges(tmp_path, write):
    here = "os.environ['SEEN_HERE'] = '1'"
    path = write(CLASS.format(at_import=here, constructed=here), "mine.py")
    run(tmp_path, path, *ONE)
    assert "SEEN_HERE" not in os.environ


@pytest.mark.parametrize(
    ("constructed", "words"),
    [("os._exit(0)", "ended its process (exit code 0)"), ("while True: pass", "gave no answer within 8 s")],
)
def test_an_end_or_none_while_it_is_found_out_how_a_file_is_called_leaves_a_verdict(
    tmp_path, write, monkeypatch, constructed, words
):
    monkeypatch.setattr(isolated, "BINDING", 8.0)
    path = write(CLASS.format(at_import="", constructed=constructed), "mine.py")
    code, record, printed = run(tmp_path, path)
    (verdict,) = record["verdicts"]
    assert (code, verdict["verdict"], record["complete"]) == (1, "not-gradable", True)
    assert f"finding out how it is called {words}" in " ".join(printed.split())


@pytest.mark.parametrize(
    "forged",
    [
        {"name": "another.py"}, {"components": ["nothing"]}, {"components": []}, {"profile": "mine"},
        {"declares": {"mask": "all"}}, {"notes": [7]}, {"binding": {}}, {"extra": 1}, {"version": 1},
        {"binding": vars(Binding("elsewhere.py"))},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_told_of_a_file_has_its_form_and_is_of_that_file(forged):
    right = binder.told(
        Implementation("mine.py:A", {"attention": None}, notes=("a \x1b note",), binding=Binding(INFERRED))
    )
    found = answers.found_in(json.loads(json.dumps(right)), "mine.py", "/mine.py")
    assert (found.name, found.source, found.notes, found.binding) == (
        "mine.py:A",
        "/mine.py",
        ("a \ufffd note",),
        Binding(INFERRED),
    )
    with pytest.raises(Malformed):
        answers.found_in(json.loads(json.dumps(right | forged)), "mine.py", "/mine.py")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--throughput"], "calls are timed in this process"),
        (["--call-seconds", "0"], "want a number of seconds above 0"),
    ],
)
def test_what_does_not_go_together_is_said_at_once(tmp_path, options, words):
    done = in_process("run", f"--impl={HOMEWORK}", "--isolate", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


@pytest.mark.parametrize("verb", [["run"], []])
def test_help_says_what_a_file_can_do_to_its_verdict(tmp_path, verb):
    words = " ".join(in_process(*verb, "--help", cwd=tmp_path).stdout.split())
    assert "runs with your rights; without --isolate it can do anything to its own verdict" in words
    assert "a file without an adapter can forge how and as what it is judged" in words


def test_help_says_what_is_bound_where(tmp_path):
    words = " ".join(in_process("run", "--help", cwd=tmp_path).stdout.split())
    assert "how a file without an adapter is called is found in another" in words
