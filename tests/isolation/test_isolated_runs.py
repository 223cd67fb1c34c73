"""``--isolate`` on the command line: verdicts, exit codes and what is said of it."""

import json
import os
from pathlib import Path

import pytest
from command_line import attnconf, in_process, pytest_in_process

ROOT = Path(__file__).parents[2]
HOMEWORK = ROOT / "tests" / "miniatures" / "homework.py"
ONE = ("-k", "ATT-SCALE-1")
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


def test_a_file_without_an_adapter_is_bound_here_and_judged_apart(tmp_path):
    code, record, _ = run(tmp_path, HOMEWORK.with_name("self_attention.py"), *ONE)
    (implementation,) = record["implementations"]
    assert (code, implementation["isolation"][:1], implementation["binding"]) == (0, ["process"], "inferred")
    said = "isolation    judged in a child process, bound in this one"
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
    assert "with it a file without an adapter still can" in words


def test_help_says_what_is_bound_where(tmp_path):
    words = " ".join(in_process("run", "--help", cwd=tmp_path).stdout.split())
    assert "bound in this process, as yet, and judged in the child" in words
