"""A run ends with 0 only if its verdicts were written, whatever the judged code does, and however the run is ended."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import COLUMNS

ROOT = Path(__file__).parents[2]
EARLY = "ERROR: the run ended before its verdicts were written"
RUN = ["-m", "attnconf", "run"]
PYTEST = ["-m", "pytest", str(ROOT / "conformance"), "-c", str(ROOT / "pyproject.toml")]
ADAPTER = """
import atexit, ctypes, os, signal, time
import torch
{at_import}
def attention(config, weights):
    def forward(query, key, value, **options):
        {in_call}
        return torch.softmax(query @ key.mT / query.shape[-1] ** {power}, -1) @ value
    return forward
"""
CLASS = """
import os
from torch import nn
class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        os._exit(0)
    def forward(self, x):
        return x
"""
pytestmark = pytest.mark.skipif(not hasattr(signal, "sigwaitinfo"), reason="no run is watched there")


def adapter(at_import="", in_call="pass", power="0.5"):
    return ADAPTER.format(at_import=at_import, in_call=in_call, power=power)


def command(folder, text, how=RUN, options=("-k", "ATT-SCALE-1")):
    """Return a command that judges a file of this text in a folder."""
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return [sys.executable, *how, "--impl=mine.py", "--results=mine.json", *options]


def done(folder, *given, **further):
    return subprocess.run(command(folder, *given, **further), cwd=folder, env=os.environ | COLUMNS, capture_output=True,
                          encoding="utf-8", timeout=600, check=False)  # fmt: skip


@pytest.fixture
def started(tmp_path):
    """Return a function that starts a run, and returns it with the process that judges, once its code is called."""
    begun = []

    def started(in_call, how=RUN, **further):
        says = "(open('new', 'w').write(str(os.getpid())), os.replace('new', 'called'))"
        judges = command(tmp_path, adapter(in_call=f"{says}; {in_call}"), how)
        begun.append(subprocess.Popen(judges, cwd=tmp_path, env=os.environ | COLUMNS, **further))
        deadline = time.monotonic() + 100
        while not (tmp_path / "called").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return begun[0], int((tmp_path / "called").read_text())

    yield started
    for process in begun:
        process.kill()
        process.wait()


def is_gone(process):
    """Return whether a process has ended, within some seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{process}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


# -- what is judged ends it


@pytest.mark.parametrize("how", [RUN, PYTEST], ids=["attnconf run", "pytest"])
@pytest.mark.parametrize(
    "text",
    [adapter(at_import="os._exit(0)"), adapter(in_call="os._exit(0)"), CLASS],
    ids=["at import", "in a call", "in a constructor"],
)
def test_an_end_with_0_is_none_of_a_run(tmp_path, text, how):
    ended = done(tmp_path, text, how, [])
    assert ended.returncode == 3
    (line,) = ended.stderr.splitlines()
    assert line == f"{EARLY} (exit code 0), as code that is judged can do by os._exit or a crash"
    assert not (tmp_path / "mine.json").exists() or not json.loads((tmp_path / "mine.json").read_text())["complete"]


@pytest.mark.parametrize(
    ("deed", "code", "how"),
    [("os._exit(7)", 7, "exit code 7"), ("ctypes.string_at(0)", -signal.SIGSEGV, "SIGSEGV")],
)
def test_another_early_end_is_told_and_keeps_its_code(tmp_path, deed, code, how):
    ended = done(tmp_path, adapter(in_call=deed))
    assert (ended.returncode, f"{EARLY} ({how})" in ended.stderr) == (code, True)


@pytest.mark.parametrize("how", [RUN, PYTEST], ids=["attnconf run", "pytest"])
def test_what_is_arranged_for_the_end_does_not_change_the_exit_code(tmp_path, how):
    ended = done(tmp_path, adapter("atexit.register(os._exit, 0)", power="0.25"), how)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "ATT-SCALE-1 violated" in ended.stdout


def test_a_copy_that_goes_on_does_not_speak_for_the_run(tmp_path):
    ended = done(tmp_path, adapter("if os.fork(): os._exit(0)"))
    assert (ended.returncode, EARLY in ended.stderr) == (3, True)


@pytest.mark.parametrize("verb", [["bind"], ["show", "sinusoidal", "--impl"], ["demo", "rose", "--impl"]])
def test_so_it_is_with_the_other_verbs_that_run_code(tmp_path, verb):
    (tmp_path / "mine.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, "-m", "attnconf", *verb, "mine.py"], cwd=tmp_path, capture_output=True,
                           encoding="utf-8", timeout=600, check=False)  # fmt: skip
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"ERROR: attnconf {verb[0]} ended before ")


# -- somebody ends it


def test_an_interrupt_at_a_terminal_is_told_once(tmp_path, started):
    ours, theirs = pty.openpty()
    begin = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
    owned = ["-c", "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], "
             "sys.argv[1:])", sys.executable, *RUN]  # fmt: skip
    run, judging = started("time.sleep(60)", owned, **begin)
    os.close(theirs)
    os.write(ours, b"\x03")
    assert run.wait(30) == 130
    printed = os.read(ours, 65536).decode()
    assert printed.count("interrupted: ") == 1
    assert "KeyboardInterrupt" not in printed
    assert EARLY not in printed
    assert is_gone(judging)
    os.close(ours)


# Is interrupted in its 300th call, when some checks have failed.
INTERRUPTED = """
import os, signal, threading, time
import torch
calls = 0
def interrupt(times):
    for _ in range(times):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
def attention(config, weights):
    def forward(query, key, value, **options):
        global calls
        calls += 1
        {when}
        return torch.softmax(query @ key.mT / query.shape[-1] ** 0.25, -1) @ value
    return forward
"""
STOPPING = "stopping: what has failed is being explained; Ctrl-C once more leaves that out"


def interrupted(folder, when, at_once):
    """Return the lines of a run that is interrupted. In the end it says what was kept, and no more.

    ``at_once``: in how many seconds interrupts are one.
    """
    begin = f"import sys; from attnconf.conformance import interrupts; interrupts.AT_ONCE = {at_once}"
    how = ["-c", f"{begin}; from attnconf.cli import main; sys.exit(main())", "run"]
    ended = done(folder, INTERRUPTED.format(when=when), how, ())
    assert (ended.returncode, ended.stderr) == (130, "")
    assert "KeyboardInterrupt" not in ended.stdout
    lines = ended.stdout.rstrip().splitlines()
    assert re.fullmatch(r"interrupted: \d+ of \d+ planned checks were judged; kept in .*mine\.json", lines[-1])
    assert lines.index(STOPPING) < lines.index("ATT-SCALE-1 violated by mine.py (attention)")
    return lines


def begun(lines, name):
    return any(line.startswith(f"  {name} ") for line in lines)


def test_interrupts_within_a_moment_are_one_wherever_they_arrive(tmp_path):
    """As where a terminal and a shell both send it: no other may reach pytest, which would write of its options."""
    when = "if calls == 300: threading.Thread(target=interrupt, args=(40,)).start(), time.sleep(60)"
    lines = interrupted(tmp_path, when, at_once=1000)
    assert begun(lines, "likely")
    assert begun(lines, "example")


def test_another_interrupt_leaves_out_what_is_not_yet_explained(tmp_path):
    lines = interrupted(tmp_path, "if calls >= 300: interrupt(1)", at_once=0)
    assert not begun(lines, "example")  # for which the file would be called


def test_an_interrupt_that_a_file_catches_ends_the_run_at_the_next_check(tmp_path):
    caught = "try: (calls == 300 and interrupt(1))\n        except KeyboardInterrupt: pass"
    lines = interrupted(tmp_path, caught, at_once=0)
    judged, planned = map(int, re.findall(r"\d+", lines[-1])[:2])
    assert judged < planned


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_command_ends_the_run(started, number):
    run, judging = started("time.sleep(60)", stderr=subprocess.PIPE)
    run.send_signal(number)
    assert run.wait(30) == -number
    assert run.stderr.read() == b""
    assert is_gone(judging)
    run.stderr.close()


# -- where no process can be had


def test_without_fork_the_run_is_this_process(tmp_path):
    without = "import os, sys; del os.fork; from attnconf.cli import main; sys.exit(main())"
    ended = done(tmp_path, adapter(), ["-c", without, "run"])
    assert (ended.returncode, ended.stderr) == (0, "")
