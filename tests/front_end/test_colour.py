"""A run on a terminal has colour, and the same text without where it is piped."""

import os
import pty
import re
import subprocess
import sys

import pytest
from command_line import attnconf
from made_records import WRONG
from test_terminal import both

from attnconf.reports import colours
from attnconf.reports.terminal import header, page

CODE = re.compile(r"\x1b\[[0-9;]*m")


def test_colour_changes_no_character():
    lines = [*header(WRONG), *page(both()), *page(WRONG, verbose=True)]
    painted = colours.painted(lines)
    assert [CODE.sub("", line) for line in painted] == lines
    assert painted != lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  worst at  out[0]: got 1.5, want 2", ["worst at", "1.5", "2"]),
        ("  where     homework.py:12  scores = q @ k.mT", ["where", "scores = q @ k.mT"]),
        ("where: homework.py:12  scores = q @ k.mT", ["where:", "scores = q @ k.mT"]),
        ("x.py attention: NONCONFORMANT (1 pass); violates ATT-A-1", ["NONCONFORMANT"]),
        ("x.py attention: CONFORMANT (1 pass)", ["CONFORMANT"]),
        ("            0  o X . X", ["X", "X"]),
        ("masks      Whose    2 passed  1 failed", ["2 passed", "1 failed"]),
    ],
)
def test_what_is_coloured(line, shown):
    (painted,) = colours.painted([line])
    assert re.findall(r"\x1b\[[0-9;]+m(?<!\x1b\[0m)([^\x1b]+)\x1b\[0m", painted) == shown


WRONG_FILE = """\
import torch


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal")
    (path / "homework.py").write_text(WRONG_FILE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def piped(folder):
    return attnconf("run", "--impl=homework.py", cwd=folder, COLUMNS="100").stdout


def on_a_terminal(folder, **environment):
    """Return what a run writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "attnconf", "run", "--impl=homework.py"]
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI", "PY_COLORS")}
    given = kept | {"TERM": "xterm", "COLUMNS": "100"} | environment
    with subprocess.Popen(command, cwd=folder, env=given, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                written += os.read(ours, 65536)
            except OSError:  # the other end was closed
                break
        process.wait(timeout=600)
    os.close(ours)
    return written.decode()


def test_a_terminal_has_colour_and_a_pipe_the_same_text_without(folder, piped):
    shown, without = on_a_terminal(folder), on_a_terminal(folder, NO_COLOR="1")
    assert "\x1b[1;37;41mNONCONFORMANT\x1b[0m" in shown
    assert CODE.sub("", shown).replace("\r\n", "\n") == without.replace("\r\n", "\n") == piped
    assert "\x1b" not in piped


def test_there_are_few_lines_before_the_first_failure_and_none_of_pytest(piped):
    lines = piped.splitlines()
    assert lines[0].startswith("attnconf ")
    assert lines.index("ATT-SCALE-1 violated by homework.py (attention)") <= 7
    assert not any(re.search(r"rootdir|configfile|collected|test session|passed in|====", line) for line in lines)
    assert any(line.startswith("next:") for line in lines[-4:])
