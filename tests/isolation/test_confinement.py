"""What is kept from the code in a process of its own, and what of it outlives the run: nothing."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from command_line import attnconf, in_process

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine import child
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.loading import isolated
from attnconf.conformance.worker import confinement, ends

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="some layers are Linux's, and its /proc is read here"),
    pytest.mark.usefixtures("as_a_user"),
]
QUERY = torch.ones(1, 1, 2, 3, dtype=torch.float64)
ADAPTER = """
import json, os, resource, signal, subprocess, sys, time
import torch
{at_import}
def attention(config, weights):
    def forward(query, key, value, **options):
        {in_call}
        return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value
    return forward
"""
DAEMON = """
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with open({path!r}, "w") as file: file.write(str(os.getpid()))
            time.sleep(100)
        os._exit(0)
    os.wait()
    while not os.path.exists({path!r}) or not os.path.getsize({path!r}): time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def _end():
    yield
    child.end_all()


@pytest.fixture
def made(write, tmp_path, monkeypatch):
    """Return a function that loads an adapter in a process of its own; a folder that it leaves is pytest's."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def made(in_call="pass", at_import=""):
        path = write(ADAPTER.format(at_import=at_import, in_call=in_call), "mine.py")
        (found,) = isolated.load(str(path))
        return found

    return made


TOLD = """
class Told(Exception): pass
def tell(value):
    tell.text = getattr(tell, "text", None) or json.dumps(value).encode().hex() + "."
    part, tell.text = tell.text[:200], tell.text[200:]
    raise Told(part)
"""


@pytest.fixture
def told(made):
    """Return a function that returns what an expression gives in the process of its own; it can write no file here."""

    def told(expression, at_import="", implementation=None):
        one, text = implementation or made(f"tell({expression})", TOLD + at_import), ""
        while not text.endswith("."):
            with pytest.raises(Failure, match="raised Told: ") as found:
                ask(one)
            text += found.value.message.removeprefix("raised Told: ")
        return json.loads(bytes.fromhex(text[:-1]))

    return told


def ask(implementation):
    inputs = dict.fromkeys(("query", "key", "value"), QUERY)
    return call(implementation, Request("attention", AttentionConfig(), {}, inputs, out_shape=tuple(QUERY.shape)))


def is_gone(process):
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{process}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


# -- what it has


def test_it_sees_the_variables_that_python_and_the_frameworks_need(told, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = told("dict(os.environ)")
    assert "API_TOKEN" not in found
    assert (found["PATH"], found["OMP_NUM_THREADS"]) == (os.environ["PATH"], "1")


def test_it_works_in_an_empty_folder_that_is_removed(told):
    here, home, temporary, listed = told("(os.getcwd(), os.environ['HOME'], os.environ['TMPDIR'], os.listdir())")
    assert (here, listed) == (home, []) == (temporary, [])
    assert here != os.getcwd()
    assert Path(here).is_dir()
    child.end_all()
    assert not Path(here).exists()


def test_a_file_and_its_neighbours_are_found_from_where_the_run_is_started(tmp_path, write):
    write("POWER = 0.5\n", "beside.py")
    write(ADAPTER.format(at_import="from beside import POWER", in_call="POWER"), "mine.py")
    ended = in_process("run", "--impl=mine.py", "--isolate", "-k", "ATT-SCALE-1", cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout


def test_it_can_write_no_huge_file_and_no_dump_and_computes_for_some_time_only(told):
    limits = "[resource.getrlimit(getattr(resource, n)) for n in ('RLIMIT_CORE', 'RLIMIT_FSIZE', 'RLIMIT_CPU')]"
    assert told(limits) == [[0, 0], [2**30, 2**30], [7200, 7200]]


def test_a_huge_file_is_a_failure(made):
    with pytest.raises(Failure, match="File too large"):
        ask(made("open('huge', 'wb').truncate(2**31)"))


def test_it_gains_no_rights(told):
    assert told("[x.split()[1] for x in open('/proc/self/status') if x.startswith('NoNewPrivs')]") == ["1"]


# -- what it starts


def test_a_daemon_ends_with_the_process_that_started_it(made, tmp_path):
    path = str(tmp_path / "daemon")
    ask(made("daemon()", DAEMON.format(path=path)))
    process = int(Path(path).read_text())
    assert Path(f"/proc/{process}").exists()
    child.end_all()
    assert is_gone(process)


def test_a_daemon_ends_with_a_run_that_is_killed(tmp_path, write):
    path = tmp_path / "daemon"
    write(ADAPTER.format(at_import=DAEMON.format(path=str(path)), in_call="daemon() or time.sleep(60)"), "mine.py")
    command = [sys.executable, "-m", "attnconf", "run", "--impl=mine.py", "--isolate"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 100
        while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        run.kill()
    assert is_gone(int(path.read_text()))


def test_what_it_started_and_left_ends_when_it_crashes(made, tmp_path):
    path = str(tmp_path / "daemon")
    with pytest.raises(Failure, match=r"ended its process \(exit code 5\)"):
        ask(made("daemon() or os._exit(5)", DAEMON.format(path=path)))
    assert is_gone(int(Path(path).read_text()))


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("os.kill(os.getppid(), signal.SIGKILL) or time.sleep(9)", r"ended its process \(SIGKILL\)"),
        ("os.killpg(0, signal.SIGKILL)", r"ended its process \(SIGKILL\)"),
    ],
)
def test_a_signal_to_its_parent_or_group_ends_itself(made, deed, words):
    with pytest.raises(Failure, match=words):
        ask(made(deed))


def test_a_keeper_that_was_stopped_is_killed_with_its_charge(made, tmp_path, monkeypatch):
    monkeypatch.setattr(child, "ENDING", 0.5)
    path = tmp_path / "pid"
    ask(made(f"open({str(path)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), signal.SIGSTOP)"))
    child.end_all()
    assert is_gone(int(path.read_text()))


# -- what is said of it


def test_the_layers_are_in_the_results_and_the_doctor_tells_them(tmp_path, write):
    write(ADAPTER.format(at_import="", in_call="pass"), "mine.py")
    in_process("run", "--impl=mine.py", "--isolate", "--results=mine.json", "-k", "ATT-SCALE-1", cwd=tmp_path)
    (one,) = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["implementations"]
    here = child.layers_here()
    assert here[:5] == ("process", "environment", "folder", "descendants", "no-new-privileges")
    assert one["isolation"] == list(here)
    (line,) = [line for line in attnconf("doctor", cwd=tmp_path).stdout.splitlines() if line.startswith("isolation")]
    assert line.split(maxsplit=1)[1].partition("; not")[0] == ", ".join(here)
    assert ("process-limit" in here) != (os.geteuid() == 0)
    assert ("; not to be had here: process-limit" in line) == (os.geteuid() == 0)
    assert ("; not to be had here: process-limit" in " ".join(one["bound"])) == (os.geteuid() == 0)


def test_a_layer_that_the_system_refuses_is_not_claimed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(ends, "control", lambda option, value=0: -1)
    monkeypatch.setattr(confinement, "limited", lambda limit, value: limit == "RLIMIT_CORE")
    assert confinement.confine(str(tmp_path), False) == ["process", "environment", "folder", "core-limit"]


def test_the_schema_knows_the_layers():
    schema = json.loads((Path(__file__).parents[2] / "reports/schema/results-1.json").read_text(encoding="utf-8"))
    known = schema["$defs"]["implementation"]["properties"]["isolation"]["items"]["enum"]
    assert known == list(confinement.LAYERS)
