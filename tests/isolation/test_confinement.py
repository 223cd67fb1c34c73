"""What is kept from the code in a process of its own, and what of it outlives the run: nothing."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import torch
from command_line import attnconf, in_process
from refusing import LANDLOCK, NAMESPACES, SECCOMP, refuse

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine import child
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.loading import isolated
from attnconf.conformance.worker import confinement, kernel, reach

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
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(100)"
    command = [sys.executable, "-c", code, "{marker}"]
    if os.fork() == 0:
        os.setsid()
        subprocess.Popen(command, stdout=subprocess.PIPE).stdout.read(1)
        os._exit(0)
    os.wait()
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


def lives(marker):
    """Return whether a process on this system was started with a word."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if marker.encode() in line.read_bytes().split(b"\0"):
                return True
    return False


def is_gone(alive):
    deadline = time.monotonic() + 15
    while alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive()


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


@pytest.fixture(params=["in a namespace of processes", "without one"])
def started(request, made, tmp_path, monkeypatch):
    """Return a function that lets code start a daemon, and one that tells whether that lives."""
    marker = f"daemon-{os.getpid()}-{request.node.name}".replace(" ", "-")
    if request.param == "without one":
        refuse(monkeypatch, tmp_path / "refusing", NAMESPACES, LANDLOCK, SECCOMP)
    elif "pid-namespace" not in child.layers_here():
        pytest.skip("this kernel, or this container, has no namespaces of processes")
    return (lambda in_call: made(in_call, DAEMON.format(marker=marker))), (lambda: lives(marker))


def test_a_daemon_ends_with_the_process_that_started_it(started):
    made, alive = started
    ask(made("daemon()"))
    assert alive()
    child.end_all()
    assert is_gone(alive)


def test_what_it_started_and_left_ends_when_it_crashes(started):
    made, alive = started
    with pytest.raises(Failure, match=r"ended its process \(exit code 5\)"):
        ask(made("daemon() or os._exit(5)"))
    assert is_gone(alive)


def test_a_daemon_ends_with_a_run_that_is_killed(tmp_path, write):
    marker = f"daemon-{os.getpid()}-killed"
    write(ADAPTER.format(at_import=DAEMON.format(marker=marker), in_call="daemon() or time.sleep(60)"), "mine.py")
    command = [sys.executable, "-m", "attnconf", "run", "--impl=mine.py", "--isolate"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 100
        while not lives(marker) and time.monotonic() < deadline:
            time.sleep(0.05)
        run.kill()
    assert is_gone(lambda: lives(marker))


def test_a_signal_to_its_group_ends_itself(made):
    with pytest.raises(Failure, match=r"ended its process \(SIGKILL\)"):
        ask(made("os.killpg(0, signal.SIGKILL)"))


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        ([LANDLOCK], "out has shape|^ok$"),  # the first process of a namespace takes no signal from within
        ([LANDLOCK, NAMESPACES], r"ended its process \(SIGKILL\)"),
    ],
)
def test_a_signal_to_its_parent_is_in_vain_or_ends_itself(made, tmp_path, monkeypatch, refused, words):
    refuse(monkeypatch, tmp_path / "refusing", *refused)
    one = made("os.kill(os.getppid(), signal.SIGKILL) or time.sleep(1)")
    try:
        ask(one)
        said = "ok"
    except Failure as failure:
        said = failure.message
    assert re.search(words, said)


def test_a_keeper_that_was_stopped_is_killed_with_its_charge(made, tmp_path, monkeypatch):
    monkeypatch.setattr(child, "ENDING", 0.5)
    refuse(monkeypatch, tmp_path / "refusing", NAMESPACES, LANDLOCK, SECCOMP)
    path = tmp_path / "pid"
    ask(made(f"open({str(path)!r}, 'w').write(str(os.getpid())); os.kill(os.getppid(), signal.SIGSTOP)"))
    child.end_all()
    assert is_gone(Path(f"/proc/{path.read_text()}").exists)


# -- what is said of it


def test_the_layers_are_in_the_results_and_the_doctor_tells_them(tmp_path, write):
    write(ADAPTER.format(at_import="", in_call="pass"), "mine.py")
    in_process("run", "--impl=mine.py", "--isolate", "--results=mine.json", "-k", "ATT-SCALE-1", cwd=tmp_path)
    (one,) = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))["implementations"]
    here = child.layers_here()
    assert here[:4] == ("process", "environment", "folder", "descendants")
    assert one["isolation"] == list(here)
    (line,) = [line for line in attnconf("doctor", cwd=tmp_path).stdout.splitlines() if line.startswith("isolation")]
    assert line.split(maxsplit=1)[1].partition("; not")[0] == ", ".join(here)
    assert ("process-limit" in here) != (os.geteuid() == 0)
    lacking = [layer for layer in confinement.LAYERS if layer not in here]
    said = f"; not to be had here: {', '.join(lacking)}" if lacking else ""
    assert line.endswith(said)
    assert said in " ".join(one["bound"])


def test_a_layer_that_the_system_refuses_is_not_claimed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(kernel, "call", lambda name, *arguments: -1)
    monkeypatch.setattr(confinement, "limited", lambda limit, value: limit == "RLIMIT_CORE")
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    found = confinement.confine(str(tmp_path), [], reach.Grant())
    assert found == ["process", "environment", "folder", "core-limit"]
    assert confinement.limit_space() == []
    assert "landlock" in confinement.lacking(found)


def test_all_layers_are_enough_and_each_that_decides_is_missed():
    assert confinement.lacking(confinement.LAYERS) == []
    assert confinement.lacking([x for x in confinement.LAYERS if x != "seccomp"]) == ["seccomp"]


def test_the_schema_knows_the_layers():
    schema = json.loads((Path(__file__).parents[2] / "reports/schema/results-1.json").read_text(encoding="utf-8"))
    known = schema["$defs"]["implementation"]["properties"]["isolation"]["items"]["enum"]
    assert known == list(confinement.LAYERS)
